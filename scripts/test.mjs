// `npm test [-- [--long] [FILTER…]]`: installs, builds, runs the tests; the last line is `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWhenStale } from './build.mjs'
import { installPackages } from './install.mjs'
import { runTool } from './runTool.mjs'

installPackages()
await buildWhenStale()
const folder = mkdtempSync(join(tmpdir(), 'cass-test-report-'))
try {
  const report = join(folder, 'report.json')
  const status = runTool('vitest', vitestArguments(report), { env: testEnvironment() })
  const { passed, failed, skipped } = countTests(report)
  // An error outside of every test fails vitest without failing a test: it still counts as one.
  const failures = status !== 0 && failed === 0 ? 1 : failed
  if (skipped > 0) process.stdout.write(`${skipped} skipped: what this system cannot do, see above\n`)
  process.stdout.write(`${passed} passed, ${failures} failed\n`)
  process.exitCode = failures === 0 && passed > 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function vitestArguments(report) {
  const filters = process.argv.slice(2).filter((argument) => argument !== '--long')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  return ['run', '--config', 'scripts/vitest.config.mjs', ...reporters, ...filters]
}

// Tests must see the same world everywhere: no extra certificates (they cost start-up time), no forced colours.
function testEnvironment() {
  const { NODE_EXTRA_CA_CERTS, FORCE_COLOR, NODE_OPTIONS, ...env } = process.env
  return process.argv.includes('--long') ? { ...env, CASS_TEST_LONG: '1' } : env
}

function countTests(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(report, 'utf8'),
    )
    // A file that does not load has no tests that could fail.
    const broken = testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    )
    return { passed: numPassedTests, failed: numFailedTests + broken.length, skipped: numPendingTests }
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return { passed: 0, failed: 1, skipped: 0 }
  }
}
