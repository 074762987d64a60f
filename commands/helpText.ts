/** What `cass --help` prints. Generated from the commands by `npm run build`; do not edit. */
export const helpText = `cass: a coding agent for the terminal whose conversations branch like git and lose nothing

Usage: cass [COMMAND] [OPTIONS]      (\`cass\` alone is \`cass chat\`)

Commands for people:
  chat           talk to the agent, turn after turn
  chats          list the conversations of this folder, newest activity first
  check          check configuration, provider and surroundings; changes nothing
  demo           take a guided tour in a scratch folder, with the demo model
  log            show a branch as a person reads it, oldest first
  run            let the agent do one turn; the answer goes to stdout

Commands for scripts:
  branch         create a branch at a checkpoint, rename one, or retire an empty one
  branches       list the branches of the current conversation and its family
  checkpoints    list the checkpoints of a branch, oldest first
  fsck           check stored conversations for damage; changes nothing
  resolve        print the full checkpoint id or chat id that a selector means
  show           print the record of a checkpoint in full, and the files it changed
  switch         make a branch the current one of this folder; never changes a file

Options of all commands, before or behind the command:
  --json         one JSON document on stdout (JSON Lines for \`run\`), errors too
  -z             on lists: NUL behind each row, TAB between columns, raw
  --cwd PATH     work in this folder instead of the current one
  --color WHEN   auto, always or never; NO_COLOR means never
  -q, --quiet    no notes on stderr; errors stay
  -h, --help     this text, or that of a command
  -V, --version  the version

See \`cass COMMAND --help\` for one command with examples.`
