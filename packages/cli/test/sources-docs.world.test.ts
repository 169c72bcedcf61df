import { readFile, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programOrSkip } from '../../../test/programs.ts'
import { type LoggedPostgres, loggedPostgres } from '../../source/test/logged-office.ts'
import { hasMariadb, type MariadbDatabase, mariadbDatabase } from '../../source/test/mariadb.ts'
import { addressOf } from '../../source/test/office.ts'
import { shell, shownBlocks } from './shown-commands.ts'

const PAGE = new URL('../../../docs/sources.md', import.meta.url)
const blocks = await shownBlocks('docs/sources.md')
const { folder, run, serve } = shell(true)
let office: LoggedPostgres
/** Null: mariadbd is not installed. */
let mariadb: MariadbDatabase | null = null
beforeAll(async () => {
  office = await loggedPostgres()
  if (hasMariadb()) mariadb = await mariadbDatabase()
})
afterAll(async () => {
  await office.close()
  await mariadb?.run('drop database if exists office')
  await mariadb?.run('drop user if exists rollcall_reader')
  await mariadb?.drop()
})

/** The address of the reader in MariaDB, and how a shell reaches that MariaDB. */
function mariadbNames({ addressOf: reader }: MariadbDatabase): { readonly address: string; readonly shell: string } {
  const url = new URL(reader('rollcall_reader', 'change-me'))
  url.pathname = '/office'
  const program = `mariadb() { command mariadb --no-defaults --user=root --socket='${url.searchParams.get('socket')}' "$@"; }`
  return { address: url.href, shell: `export NORTH_SOURCE_URL='${url.href}'\n${program}` }
}

/** The statements of the source's administrator, as the page has them. */
async function administrates(): Promise<void> {
  const [, statements = ''] = /```sql\n(alter system .*?)```/s.exec(await readFile(PAGE, 'utf8')) ?? []
  for (const statement of statements.replaceAll(/--.*/g, '').split(';')) {
    if (statement.trim() !== '') await office.run(statement)
  }
  await office.run('select pg_reload_conf()')
}

test('docs/sources.md runs as it stands', { timeout: 600_000 }, async (context) => {
  programOrSkip(context, 'psql')
  await symlink(resolve(import.meta.dirname, '../../../examples'), join(folder(), 'examples'))
  const owner = addressOf(office.connection)
  const reader = addressOf({ ...office.connection, user: 'rollcall_reader', password: 'change-me' })
  const north = mariadb === null ? null : mariadbNames(mariadb)
  const names = `export CIVIL_OWNER='${owner}' CIVIL_SOURCE_URL='${reader}'\n${north?.shell ?? ''}`
  const isNorth = (block: string): boolean => block.includes('civil-north')
  const search = blocks.find((block) => block.includes('127.0.0.1:8080')) ?? expect.fail()
  const printed: string[] = []
  for (const block of blocks.filter((one) => !isNorth(one))) {
    if (block === search) await serve({ CIVIL_SOURCE_URL: reader, NORTH_SOURCE_URL: north?.address ?? '' })
    if (block.includes('sed -i')) {
      const undecided = await run(`${names}\nrollcall source check civil --source civil.yaml 2>&1 || true`)
      expect(undecided).toMatch(
        /civil\.yaml line 1\d: records\.Person\.columns\["identifier\[UIN\]"\]: stands for "\?"; decide it/,
      )
    }
    if (block.includes('mirror.yaml')) await administrates()
    printed.push(await run(`${names}\n${block}`))
  }
  const all = printed.join('')
  expect(all).toMatch(/^11 columns are proposed, and 2 lines must be decided; review civil.yaml$/m)
  expect(all).toMatch(/^Person: 3 rows read; each is a record$/m)
  expect(all).toContain('added civil, a civil registry that calls itself civil.rollcall; its records stay in a database')
  // The grant shows the name, and no date.
  expect(all).toMatch(/"surname": ?"Okoro"/)
  expect(all).not.toContain('1990')
  await expect.poll(() => run(`${names}\n${search}`), { interval: 1_000, timeout: 120_000 }).toContain('Okoro-Bello')
  if (north === null) context.skip('of MariaDB: mariadbd is not installed')
  const [adding = expect.fail(), asking = expect.fail()] = blocks.filter(isNorth)
  const same = await run(`${names}\n${adding}`)
  expect(same).toMatch(/^11 columns are proposed, and 2 lines must be decided; review north.yaml$/m)
  expect(same).toMatch(/^Person: 3 rows read; each is a record$/m)
  const asked = () => run(`${names}\n${asking}`)
  await expect.poll(asked, { interval: 1_000, timeout: 120_000 }).toMatch(/"surname": ?"Okoro"/)
})
