import type { Readable } from 'node:stream'

/** Everything that a pipe or a file gives, as text. */
export async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
