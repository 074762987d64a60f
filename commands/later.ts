const putBack = 'look at a change with `cass show CHECKPOINT --diff`, and put files back with git or by hand'

/** Commands of later releases by name, with what to do until then. */
export const laterCommands: ReadonlyMap<string, string> = new Map([
  ['cat', 'print what is stored with `cass show CHECKPOINT`'],
  ['completion', 'see `cass --help` for the commands, `cass COMMAND --help` for their options'],
  ['diff', 'look at a change with `cass show CHECKPOINT --diff`, and at the files with `git diff`'],
  ['docs', 'see `cass --help`, `cass COMMAND --help` and README.md'],
  ['doctor', 'use `cass check` for the installation and `cass fsck` for what is stored'],
  ['du', 'measure the home of cass with `du -sh ~/.cass`'],
  ['export', 'use `cass log`, or `cass log --json` for a program'],
  ['gc', 'leave the home of cass as it is: nothing in it has to be cleaned up'],
  ['journal', 'look at a change with `cass show CHECKPOINT --diff`'],
  ['operations', 'see `cass branches` for the branches and `cass log --graph` for how they hang together'],
  ['redo', putBack],
  ['restore', putBack],
  ['rewind', 'go on from an earlier place with `cass branch CHECKPOINT --switch`; files stay as they are'],
  ['setup', 'write providers.json by hand, as README.md shows, or give `--base-url` and `--model`'],
  ['undo', putBack],
  ['update', 'install the new version the way this one was installed'],
  ['worktree', 'make one with `git worktree add`, and run `cass` in it'],
])
