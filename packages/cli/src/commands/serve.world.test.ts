import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { askToken, search } from '../../test/ask.ts'
import { databaseUrl, printed, type Running, rollcall, rollcallJson, start } from '../../test/command.ts'

let env: { DATABASE_URL: string }
let drop: () => Promise<void>
let running: Running
let base: string
let said: { readonly url: string; readonly database: string; readonly registries: number }

beforeAll(async () => {
  const empty = await emptyDatabase()
  drop = empty.drop
  env = { DATABASE_URL: databaseUrl(empty.connection) }
  running = start(['serve', '--json'], env)
  const [line] = await printed(running, /^.*\n/)
  said = JSON.parse(line)
  base = said.url
})

afterAll(async () => {
  await running.stop()
  await drop()
})

test('on an empty database it migrates, and is healthy', async () => {
  expect((await fetch(`${base}/health`)).status).toBe(200)
  expect((await fetch(`${base}/ready`)).status).toBe(200)
  expect(await rollcallJson(['migrate'], env)).toEqual({ migrations: [], registries: 0, to_fill: [] })
  expect(await rollcallJson(['registry', 'list'], env)).toEqual([])
  expect(await rollcallJson(['participant', 'list'], env)).toEqual([])
})

const NOTHING = 'it hosts no registry yet: rollcall registry add civil adds one, and this server has it within a second\n'

test('it says which database it uses, without the password, and whether it hosts anything', async () => {
  expect(said).toMatchObject({ database: expect.stringMatching(/^the database \w+ on /), registries: 0 })
  const second = start(['serve'], env)
  const [text] = await printed(second, /^.*\n.*\n.*\n/)
  expect(text.slice(text.indexOf('\n') + 1)).toBe(`it uses ${said.database}\n${NOTHING}`)
  const { password } = new URL(env.DATABASE_URL.replace('@/', '@localhost/'))
  expect(password).not.toBe('')
  const { code, stdout, stderr } = await second.stop('SIGTERM')
  expect(code).toBe(0)
  expect(stdout + stderr).not.toContain(password)
})

test('registries and participants added beside it take part, until they are disabled', async () => {
  const added = await rollcallJson(
    ['registry', 'add', 'civil', '--namespace', 'crvs', '--sender-id', 'crvs.example', '--alias', 'old', 'older'],
    env,
  )
  const registry = {
    namespace: 'crvs',
    kind: 'civil',
    sender_id: 'crvs.example',
    aliases: ['old', 'older'],
    time_zone: 'UTC',
    demo: false,
    environment: 'live',
    majority_age: 18,
    web_origins: [],
    reg_type_aliases: [],
    qualified_kids: false,
    primary_identifiers: { Person: 'UIN' },
    source: null,
  }
  expect(added).toEqual(registry)
  expect(await rollcallJson(['registry', 'list'], env)).toEqual([{ ...registry, records: { Person: 0 } }])

  const { client_secret, granted, ...fresh } = await rollcallJson(
    ['participant', 'add', 'spmis.example', '--name', 'MIS', '--max-page-size', '500'],
    env,
  )
  expect(granted).toEqual([])
  expect(fresh).toMatchObject({ name: 'MIS', status: 'active', max_page_size: 500, demo: false })
  expect(await rollcallJson(['participant', 'list'], env)).toEqual([fresh])
  // It asks unsigned below; what is said here is that a running server takes it in.
  const unsigned = ['--signature', 'if-present', '--allow-unsigned']
  await rollcallJson(['participant', 'policy', 'spmis.example', ...unsigned], env)
  const [participant] = await rollcallJson(['participant', 'list'], env)

  const token_url = `${base}/oauth2/client/token`
  const { token } = await askToken(token_url, { ...participant, client_secret })
  const samples = [{ identifier_type: 'UIN', identifier_value: '1' }]
  const shape = { namespace: 'crvs', receiver_id: 'older', reg_type: 'Civil', reg_record_type: 'Person', samples }
  const asked = () => search(base, token, 'spmis.example', shape)
  expect(await asked()).toEqual({ status: 403, items: [] })
  await rollcallJson(['grant', 'set', 'spmis.example', 'crvs', '--template', 'eligibility'], env)
  await expect.poll(asked).toMatchObject({ status: 200, items: [{ status: 'succ', data: { reg_records: [] } }] })

  const disabled = await rollcallJson(['participant', 'disable', 'spmis.example'], env)
  expect(disabled).toEqual({ ...participant, status: 'disabled' })
  await expect.poll(async () => (await asked()).status).toBe(401)
  expect((await askToken(token_url, { ...participant, client_secret })).status).toBe(401)
  expect(await rollcallJson(['participant', 'enable', 'spmis.example'], env)).toEqual(participant)
  expect((await askToken(token_url, { ...participant, client_secret })).status).toBe(200)
})

test.each([
  [['registry', 'add', 'ess', '--namespace', 'crvs'], 'there is a registry at crvs already; choose another namespace'],
  [['registry', 'add', 'ess', '--sender-id', 'old'], '"old" is a name of the registry at crvs already; choose another'],
  [['registry', 'add', 'ess', '--namespace', 'Ess'], 'a namespace is a lower-case letter, then at most 62'],
  [['participant', 'add', 'a|b', '--name', 'x'], 'sender_id contains | or "'],
  [['participant', 'disable', 'nobody.example'], 'no participant has sender_id nobody.example'],
])('rollcall %j is refused in one line', async (words, message) => {
  const { code, stdout, stderr } = await rollcall(words, env)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr.startsWith(`rollcall: ${message}`)).toBe(true)
  expect(stderr.trimEnd()).not.toContain('\n')
})

const PRIVATE = { ROLLCALL_ADMIN_PRIVATE_NETWORK: '1' }

test('a port that is taken is named, with the variable that helps', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : undefined
  try {
    const taken = await rollcall(['serve'], { ...env, PORT: String(port), ADMIN_PORT: '0' })
    expect(taken.code).toBe(1)
    expect(taken.stderr).toContain(
      `rollcall: PORT ${port} on 127.0.0.1 is taken by another program, perhaps another Rollcall; set PORT to another\n`,
    )
    const operator = await rollcall(['serve'], { ...env, PORT: '0', ADMIN_PORT: String(port) })
    expect(operator.code).toBe(1)
    expect(operator.stderr).toContain(
      `rollcall: ADMIN_PORT ${port} on 127.0.0.1 is taken by another program, perhaps another Rollcall; ` +
        'set ADMIN_PORT (PORT + 1 unless set) to another\n',
    )
    const both = await rollcall(['serve'], { ...env, PORT: '9000', ADMIN_PORT: '9000' })
    expect(both).toMatchObject({ code: 1, stderr: 'rollcall: PORT and ADMIN_PORT are both 9000: set one of them to another\n' })
    const elsewhere = await rollcall(['serve'], { ...env, PORT: '0', ADMIN_HOST: '192.0.2.1', ...PRIVATE })
    expect(elsewhere.code).toBe(1)
    expect(elsewhere.stderr).toContain('rollcall: ADMIN_HOST 192.0.2.1')
  } finally {
    other.close()
  }
})

test('beyond this machine it listens only behind a proxy that speaks TLS', async () => {
  const refused = await rollcall(['serve'], { ...env, HOST: '0.0.0.0' })
  expect(refused).toMatchObject({
    code: 1,
    stderr:
      'rollcall: HOST is 0.0.0.0, where peers would be answered in plain HTTP: put a proxy that terminates TLS in front of it, ' +
      'and set ROLLCALL_BEHIND_TLS_PROXY=1\n',
  })
})

test.each(['all', 'worker'])(
  'the operator’s listener of role %s leaves this machine only with a word of its own',
  async (role) => {
    const beyond = { ...env, ADMIN_HOST: '0.0.0.0', ADMIN_PORT: '0', ROLLCALL_ROLE: role }
    expect(await rollcall(['serve'], beyond)).toMatchObject({
      code: 1,
      stderr:
        'rollcall: ADMIN_HOST is 0.0.0.0, where metrics would be shown in plain HTTP and without a login: put a proxy that ' +
        'terminates TLS in front of it and set ROLLCALL_BEHIND_TLS_PROXY=1, or set ' +
        'ROLLCALL_ADMIN_PRIVATE_NETWORK=1 if only your own machines can reach it\n',
    })
  },
)

test('with these words both listeners are at every address; it stops cleanly, also when npm sends SIGINT twice', async () => {
  const beyond = { HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0', ADMIN_PORT: '0', ROLLCALL_BEHIND_TLS_PROXY: '1' }
  const wide = start(['serve'], { ...env, ...beyond, ...PRIVATE })
  const [line] = await printed(wide, /^.*\n/)
  expect(line).toMatch(
    /^Rollcall listens on http:\/\/127\.0\.0\.1:\d+ \(HOST 0\.0\.0\.0: at every address of this machine\), for its operator on http:\S+ \(ADMIN_HOST 0\.0\.0\.0: at every address of this machine\)\n$/,
  )
  wide.process.kill('SIGINT')
  expect((await wide.stop('SIGINT')).code).toBe(0)
})

test("a worker has no listener but the operator's, where it says whether it works", async () => {
  // Wherever HOST is: nobody is answered there.
  const wide = { HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0', ADMIN_PORT: '0', ...PRIVATE }
  const worker = start(['serve', '--json', '--role', 'worker'], { ...env, ...wide })
  const [line] = await printed(worker, /^.*\n/)
  const { role, url, admin_url } = JSON.parse(line)
  expect({ role, url }).toEqual({ role: 'worker', url: null })
  expect((await fetch(`${admin_url}/health`)).status).toBe(200)
  expect((await fetch(`${admin_url}/ready`)).status).toBe(200)
  expect(await (await fetch(`${admin_url}/metrics`)).text()).toContain('rollcall_job_seconds')
  expect((await fetch(`${admin_url}/crvs/v1.0.0/registry/sync/search`, { method: 'POST' })).status).toBe(404)
  worker.process.kill('SIGHUP')
  expect(await worker.stop('SIGHUP')).toMatchObject({ code: 0 })
})

test('a role that there is not is refused', async () => {
  const unknown = await rollcall(['serve', '--role', 'both'], env)
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain("argument 'both' is invalid. Allowed choices are http, worker, all")
  const variable = await rollcall(['serve'], { ...env, ROLLCALL_ROLE: 'both' })
  expect(variable).toMatchObject({ code: 1, stderr: 'rollcall: ROLLCALL_ROLE must be one of http, worker, all\n' })
})

/** Whether somebody takes connections at a port. */
function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy())
}

test('with a registry it says nothing of adding one; a second signal ends it at once, whatever it waits for', async () => {
  const server = start(['serve'], env)
  const [, listens = ''] = await printed(server, /^(.*)\nit uses .*\n/)
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(listens)?.[1])
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  // A request that never ends: a clean stop waits for it.
  socket.write('POST /oauth2/client/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n')
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /)
  server.process.kill('SIGTERM')
  await expect.poll(() => isOpen(port)).toBe(false)
  expect(server.process.exitCode).toBe(null)
  // Signals within half a second of the first one are the same request.
  const signalAgain = () => {
    server.process.kill('SIGTERM')
    return server.process.exitCode
  }
  await expect.poll(signalAgain).toBe(143)
  socket.destroy()
  expect((await server.ended).stdout.split('\n').slice(1)).toEqual([`it uses ${said.database}`, ''])
})
