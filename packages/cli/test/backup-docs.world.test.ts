import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { databaseUrl } from './command.ts'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/backup.md')
const { run } = shell(false)
let other: Awaited<ReturnType<typeof emptyDatabase>>
beforeAll(async () => {
  other = await emptyDatabase()
})
afterAll(() => other.drop())

test('the restore drill of docs/backup.md runs as it stands', { timeout: 600_000 }, async () => {
  const [before = '', after = ''] = blocks
  const backed = await run(before)
  expect(backed).toMatch(/^wrote drill\.backup: backup \S+ of /m)
  expect(backed).toMatch(/^verified drill\.backup: backup \S+ of /m)
  const settings = 'export ROLLCALL_JOURNAL="$PWD/journal"\n'
  const drill = `export DRILL_DATABASE_URL='${databaseUrl(other.connection)}'\n`
  const restored = await run(settings + drill + after)
  expect(restored).toMatch(/^restored drill\.backup: backup \S+ of /m)
  expect(restored).toContain('applied 1 acts of the journal')
  expect(restored).toContain('Outgoing messages are held: run rollcall restore release')
  expect(restored).toMatch(/^restored at \S+ from backup \S+, as it was at /m)
  expect(restored).toContain('"surname": "Okoro"')
  expect(restored).toMatch(/spmis\.example\.org.* disabled/)
  expect(restored).toMatch(/^released$/m)
})
