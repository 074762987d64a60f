import { expect, it } from 'vitest'
import { findNameFault } from '../../../sources/update/entryName.ts'

it.each([
  'cass',
  'bin/cass.exe',
  '.hidden/..file/a...b',
  'node_modules/@scope/name/index.d.ts',
  'console/auxiliary.c/com10',
  'größe/日本語/🚀 rocket',
  'n'.repeat(255),
  'é'.repeat(127),
])('the name %s is taken', (name) => {
  expect(findNameFault(name)).toBeNull()
})

it.each([
  ['', 'has no name'],
  ['.', "has the part '.'"],
  ['a/./b', "has the part '.'"],
  ['a//b', "has the part ''"],
  ['a/', "has the part ''"],
  ['..', "has the part '..'"],
  ['a/..', "has the part '..'"],
  ['/a', 'absolute'],
  ['z:', 'drive letter'],
  ['a\\b', 'backslash'],
  ['ab:c', 'not every system'],
  ['what?', 'not every system'],
  ['CON', 'a device'],
  ['a/Com1.tar.gz', 'a device'],
  ['LPT²', 'a device'],
  ['conout$', 'a device'],
  ['a /b', 'ends with a dot or a space'],
  ['a/...', 'ends with a dot or a space'],
  ['a\u0000b', 'control characters'],
  ['a\nb', 'control characters'],
  ['a\u007fb', 'control characters'],
  ['a\u2028b', 'control characters'],
  ['a\ufffdb', 'not UTF-8'],
  ['a\ud800b', 'not UTF-8'],
  ['é'.repeat(128), 'a part of more than 255 bytes'],
  [`${'n'.repeat(200)}/`.repeat(4), 'a name of more than 768 bytes'],
  [`${'n/'.repeat(32)}n`, 'folders deep'],
])('the name %j is refused', (name, fault) => {
  expect(findNameFault(name)).toContain(fault)
})
