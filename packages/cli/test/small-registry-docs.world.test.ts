/**
 * docs/small-registry.md: its lines run in their order, below a folder in place of /, with the files of deploy/. Programs of the
 * machine (apt-get, systemctl, nginx and the like) only note how they were called.
 */
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { deployed } from '../../../test/deploy-files.ts'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { databaseUrl, rollcallJson } from './command.ts'
import { shownBlocks } from './shown-commands.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const [programs = '', release = '', secrets = '', files = '', start = '', shell = '', registry = '', operator = ''] =
  await shownBlocks('docs/small-registry.md')

/** In place of /. */
let top: string
let database: Awaited<ReturnType<typeof emptyDatabase>>
beforeAll(async () => {
  top = await mkdtemp(join(tmpdir(), 'rollcall-small-'))
  database = await emptyDatabase()
  for (const folder of ['etc/systemd/system', 'etc/nginx/conf.d', 'var/lib/rollcall', 'usr/local/src', 'bin', 'home'])
    await mkdir(join(top, folder), { recursive: true })
  for (const folder of ['opt/rollcall-release', 'opt/rollcall/node_modules/.bin'])
    await mkdir(join(top, folder), { recursive: true })
  for (const program of ['apt-get', 'curl', 'sha256sum', 'tar', 'npm', 'systemctl', 'nginx'])
    await script(`bin/${program}`, `echo "${program} $*" >> '${top}/called'`)
  await script('bin/runuser', `echo "runuser $*" >> '${top}/called'; cat > '${top}/sql'`)
  await script(
    'opt/rollcall/node_modules/.bin/rollcall',
    `exec '${process.execPath}' '${inject('programs').rollcall}' "$@"`,
  )
})
afterAll(async () => {
  await database.drop()
  await rm(top, { recursive: true })
})

const script = (path: string, text: string): Promise<void> =>
  writeFile(join(top, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
const below = (text: string): string => text.replaceAll(/(?<![\w.])\/(etc|opt|var|usr\/local)\//g, `${top}/$1/`)

function run(...blocks: readonly string[]): string {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  const { status, stdout, stderr } = spawnSync('bash', ['-c', ['set -e', ...blocks.map(below)].join('\n')], {
    cwd: join(top, 'home'),
    env: { PATH: `${join(top, 'bin')}:${PATH}`, HOME, TMPDIR },
    encoding: 'utf8',
  })
  expect({ blocks, status, stderr: status === 0 ? '' : stderr }).toEqual({ blocks, status: 0, stderr: '' })
  return stdout
}

test('the programs and the packages of a release are installed', async () => {
  run(programs)
  run(release)
  const called = await readFile(join(top, 'called'), 'utf8')
  expect(called).toContain('apt-get install --yes --no-install-recommends postgresql nginx curl')
  expect(called).toMatch(/^npm install --prefix \S+\/opt\/rollcall --omit=optional \.\/rollcall-0\.1\.0\.tgz /m)
})

test('the roles are those of docs/roles.md, and only root reads the secrets', async () => {
  run(secrets)
  const sql = await readFile(join(top, 'sql'), 'utf8')
  const roles = await readFile(join(ROOT, 'docs/roles.md'), 'utf8')
  const withoutPasswords = (text: string) => text.replaceAll(/password '[^']*'/g, 'password')
  const [, shown = ''] = /## A new database.*?```sql\n(.*?)```/s.exec(roles) ?? []
  expect(withoutPasswords(sql)).toBe(withoutPasswords(shown))
  for (const [name, form] of [
    ['database-url', /^postgres:\/\/rollcall_application:[0-9a-f]{48}@127\.0\.0\.1\/rollcall\n$/],
    ['owner-database-url', /^postgres:\/\/rollcall_owner:[0-9a-f]{48}@127\.0\.0\.1\/rollcall\n$/],
    ['master-key', /^[\w+/]{43}=\n$/],
  ] as const) {
    const path = join(top, 'etc/rollcall', name)
    expect(await readFile(path, 'utf8')).toMatch(form)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  }
})

test('the files of deploy/ are copied, and every unit that is started is among them', async () => {
  await cp(join(ROOT, 'deploy'), join(top, 'opt/rollcall/node_modules/rollcall/deploy'), { recursive: true })
  run(files)
  run(start)
  const called = await readFile(join(top, 'called'), 'utf8')
  const started = [...called.matchAll(/^systemctl (?:start|enable --now) (.*)$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  )
  expect(started).toEqual(['rollcall-migrate', 'rollcall', 'rollcall-prune.timer'])
  for (const name of started) {
    const unit = name.includes('.') ? name : `${name}.service`
    expect(deployed).toContain(`deploy/systemd/${unit}`)
    expect((await stat(join(top, 'etc/systemd/system', unit))).isFile()).toBe(true)
  }
  expect(called).toMatch(/^nginx -t\nsystemctl reload nginx$/m)
  expect(await readFile(join(top, 'etc/nginx/conf.d/rollcall.conf'), 'utf8')).toContain(
    'server_name registry.example.org;',
  )
})

test('every command of the operator runs in the shell that the page makes', { timeout: 600_000 }, async () => {
  // The database of this test; no name of a log server is looked up.
  const url = databaseUrl(database.connection)
  const env = join(top, 'etc/rollcall/rollcall.env')
  await writeFile(join(top, 'etc/rollcall/database-url'), `${url}\n`)
  await writeFile(env, below(await readFile(env, 'utf8')).replace(/^(ROLLCALL_WITNESS)=.*$/m, `$1=${top}/witness`))
  const master = (await readFile(join(top, 'etc/rollcall/master-key'), 'utf8')).trim()
  await rollcallJson(['migrate'], { DATABASE_URL: url, ROLLCALL_MASTER_KEY: master })
  const people = 'UIN,Given Name,Family Name,DOB,Sex\n8100000017,Asha,Okoro,31/12/1990,F\n'
  await writeFile(join(top, 'home/people.csv'), people)

  const said = run(shell, registry, operator)
  const { database: name } = database.connection
  expect(said).toMatch(
    new RegExp(`^Examined: the database ${name} on .*, with these settings: HOST, PORT, .*ROLLCALL_JOURNAL`),
  )
  expect(said).toContain('1 of 1 records are in civil: 1 new')
  expect(said).toMatch(/^client_secret /m)
  expect(said).toMatch(/^http:\/\/127\.0\.0\.1:8081\/#\/sign-in\/\S+$/m)
})
