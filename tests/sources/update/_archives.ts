import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

/** A tar entry as its header says it; the libraries that write tar would refuse most of what is made here. */
export interface TarEntry {
  readonly name: string
  readonly content?: string | Buffer
  /** `0` file, `1` hard link, `2` link, `3` device, `5` folder, `6` pipe, `x` pax header, `L` GNU long name. */
  readonly type?: string
  readonly mode?: number
  readonly link?: string
  /** A size that is not the content's. */
  readonly claimed?: number
}

export function tarHeader({
  name,
  content = '',
  type = '0',
  mode = 0o644,
  link = '',
  claimed,
}: TarEntry): Buffer {
  const block = Buffer.alloc(512)
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`
  block.write(name, 0, 100)
  block.write(octal(mode, 8), 100)
  // Another's: unpacked as root, a file must not become that user's.
  block.write(octal(1234, 8), 108)
  block.write(octal(1234, 8), 116)
  block.write(octal(claimed ?? Buffer.byteLength(content), 12), 124)
  block.write(octal(0, 12), 136)
  block.write('        ', 148)
  block.write(type, 156)
  block.write(link, 157, 100)
  block.write('ustar\u000000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

/** Unpacked tar bytes; `isEnded` false leaves out the two empty blocks of the end. */
export function tarBytes(entries: ReadonlyArray<TarEntry>, { isEnded = true } = {}): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? '')
    return [tarHeader(entry), content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(isEnded ? 1024 : 0)])
}

export function tarGz(entries: ReadonlyArray<TarEntry>): Buffer {
  return gzipSync(tarBytes(entries))
}

/** The pax header that gives the next entry fields such as `path`. */
export function pax(fields: Readonly<Record<string, string>>): TarEntry {
  const records = Object.entries(fields).map(([key, value]) => {
    const body = ` ${key}=${value}\n`
    let length = Buffer.byteLength(body)
    while (length !== Buffer.byteLength(body) + String(length).length)
      length = Buffer.byteLength(body) + String(length).length
    return `${length}${body}`
  })
  return { name: 'pax', type: 'x', content: records.join('') }
}

/** A zip entry as its two headers say it. */
export interface ZipEntry {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  /** With its type bits; by default a regular file, or a folder when the name ends with a slash. */
  readonly mode?: number
  /** 0 stored, 8 deflated. */
  readonly method?: number
  readonly flags?: number
  /** Sizes that are not the content's. */
  readonly claimed?: number
  readonly claimedPacked?: number
  readonly crc?: number
}

/** `count` is a number of entries that is not theirs; `offset` has all of them begin at that byte. */
export function zipBytes(
  entries: ReadonlyArray<ZipEntry>,
  { count = entries.length, offset }: { readonly count?: number; readonly offset?: number } = {},
): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let position = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const content = Buffer.from(entry.content ?? '')
    const isFolder = name.at(-1) === 0x2f
    const method = entry.method ?? (content.length === 0 ? 0 : 8)
    const packed = method === 8 ? deflateRawSync(content) : content
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(entry.flags ?? 0x800, 2)
    fields.writeUInt16LE(method, 4)
    fields.writeUInt32LE(0x5a21_0000, 6)
    fields.writeUInt32LE(entry.crc ?? crc32(content), 10)
    fields.writeUInt32LE(entry.claimedPacked ?? packed.length, 14)
    fields.writeUInt32LE(entry.claimed ?? content.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const attributes = Buffer.alloc(14)
    const mode = entry.mode ?? (isFolder ? 0o040755 : 0o100644)
    attributes.writeUInt32LE(mode * 0x1_0000, 6)
    attributes.writeUInt32LE(offset ?? position, 10)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed])
    centrals.push(Buffer.from('PK\x01\x02\x14\x03'), fields, attributes, name)
    locals.push(local)
    position += local.length
  }
  const directory = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(position, 16)
  return Buffer.concat([...locals, directory, end])
}
