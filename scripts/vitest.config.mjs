import { defineConfig } from 'vitest/config'
import { repository } from './install.mjs'

export default defineConfig({
  root: repository,
  // As in the build: one copy of clipanion, its ES modules.
  resolve: { alias: [{ find: /^clipanion\/lib\/core\.js$/, replacement: 'clipanion/lib/core.mjs' }] },
  test: {
    include: ['tests/**/*.test.ts'],
    pool: 'forks',
    // Its ESM files import a folder, which only bundlers understand.
    server: { deps: { inline: ['clipanion'] } },
    maxWorkers: 2,
    // Generous: a test that waits is told so by its own condition, never by the clock.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
