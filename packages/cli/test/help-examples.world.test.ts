/**
 * Every example of every --help, run as it is printed beside a real server. The examples come from the program itself,
 * so that none can be forgotten; the tables say what an example finds when it is run, and what its names stand for.
 */
import { execFile } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DEFAULT_SIGNATURE_PROFILE, importSigningKey, type Jwk, sign } from '@rollcall/protocol'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { grant } from '../../participants/test/grants.ts'
import { envelope, sendCallback } from '../../server/test/inbox.ts'
import { eventRows } from '../../server/test/notifications.ts'
import { MASTER_KEY } from '../../server/test/server.ts'
import { auditing } from '../../settings/test/audit.ts'
import { makeWholeProgram } from '../src/program.ts'
import { demoServer } from './asking.ts'
import { databaseUrl, type Ended, rollcall, rollcallJson, start, until } from './command.ts'
import { shellFunction } from './command-server.ts'
import { writeSource } from './source-example.ts'

interface Example {
  /** The command that it belongs to, such as `registry add`. */
  readonly command: string
  readonly text: string
}

function examplesOf(command: Command, words: readonly string[] = []): readonly Example[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((child) => examplesOf(child, [...words, child.name()]))
  }
  let help = ''
  command.configureOutput({ writeOut: (more) => (help += more) }).outputHelp()
  const found = [...help.matchAll(/^Example: ((?:.*\\\n)*.*)$/gm)].map(([, text = '']) => text)
  // They stand last and begin alike: an example that is written in another way would not be found.
  expect(help.slice(help.indexOf('Example'))).toMatch(/^(?:Example: (?:.*\\\n)*.*\n)+$/)
  return found.map((text) => ({ command: words.join(' '), text }))
}

/** A restore holds what would be sent, and needs what the others have made: its examples come last. */
const isRestore = ({ command }: Example): boolean => command.startsWith('restore')
const all = examplesOf(await makeWholeProgram())
const examples = [...all.filter((example) => !isRestore(example)), ...all.filter(isRestore)]

const PEOPLE = [
  {
    '@type': 'Person',
    identifier: [{ identifier_type: 'UIN', identifier_value: '8128560370' }],
    name: { surname: 'Okoro', given_name: 'Ada' },
    birth_date: '1950-03-01',
  },
]

const GRANT = 'operations: [search]\nsee: [identifier, surname]\nbasis: law\n'

let demo: Awaited<ReturnType<typeof demoServer>>
let peer: Awaited<ReturnType<typeof acknowledging>>
let empty: Awaited<ReturnType<typeof emptyDatabase>>
let office: Awaited<ReturnType<typeof emptyDatabase>>
let folder: string
/** The environment for the server's database, and for a database without a server. */
let env: Record<string, string>
let other: Record<string, string>
/** Values here for the made-up names of examples. */
const meaning: Record<string, string> = { 9000: '0' }

beforeAll(async () => {
  demo = await demoServer({ civil: PEOPLE, ibr: [], social: [], ess: [] })
  peer = await acknowledging()
  empty = await emptyDatabase()
  office = await emptyDatabase()
  folder = demo.home.path
  const shared = { ROLLCALL_DATA: folder, ROLLCALL_MASTER_KEY: MASTER_KEY, HOME: folder }
  env = { ...shared, DATABASE_URL: databaseUrl(demo.server.database.connection) }
  other = { ...shared, DATABASE_URL: databaseUrl(empty.connection) }
  meaning['postgres://rollcall@db.example.org/rollcall'] = other.DATABASE_URL ?? ''
  meaning['https://registry.example.org'] = demo.server.url
  meaning['https://spmis.example.org/dci'] = peer.url
  await writeFiles()
  await sendSearch()
  await sendNotification()
})
afterAll(async () => {
  await demo.close()
  await peer.close()
  await empty.drop()
  await office.drop()
})

/** A participant's address, which acknowledges everything. */
async function acknowledging(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{"message":{"ack_status":"ACK"}}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { url: `http://127.0.0.1:${port}`, close }
}

const write = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o600 })

async function writeFiles(): Promise<void> {
  await write('rollcall-witness', '')
  const partner = generateKeyPairSync('ed25519')
  const pem = partner.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await write('private-key.pem', pem)
  await write('partner.pem', spki(partner.publicKey))
  await write('message.json', await signedMessage(pem))
  await write('public-key.pem', spki(generateKeyPairSync('ed25519').publicKey))
  await write('people.ndjson', PEOPLE.map((person) => JSON.stringify(person)).join('\n'))
  await write('beneficiaries.csv', 'number,name\n0012,Okoro\n')
  await write('people.csv', 'UIN,Given Name\n0012,Ada\n')
  await write('columns.json', '{"member_identifier[UIN]": "number", "demographic_info.name.surname": "name"}')
  const enrolment = { programme: { programme_identifier: 'PRG-07' }, enrolment_status: 'Active' }
  const member = { member_identifier: '0012', programme_identifier: enrolment }
  await write('enrolments.ndjson', JSON.stringify({ member }))
  await write('enrolments.csv', 'number,programme\n0012,PRG-07\n')
  await write('enrolment-columns.json', '{"member.member_identifier": "number", "member.programme_identifier": "programme"}')
  await write('grant.yaml', GRANT)
  await write('grants.yaml', `civil:\n${GRANT.replaceAll(/^(?=.)/gm, '  ')}`)
  // The demo's grants ask for no consent.
  await write('consent.jws', 'e30.e30.e30')
  await write('revoked.yaml', 'authority: https://consent.example.org\nrevoked: [c-80, c-82]\n')
  await write('leavers.txt', '8128560370\n')
  await write('twice.ndjson', ['4103278859', '2215743904'].map((uin) => JSON.stringify(personOf(uin))).join('\n'))
  await write('death.json', JSON.stringify({ ...PEOPLE[0], death_date: '2026-02-03' }))
  await write('new-master-key', Buffer.alloc(32, 1).toString('base64'))
  await chmod(join(folder, 'demo.json'), 0o600)
}

/** Once, whichever command is first. */
async function sourced(): Promise<void> {
  env.CIVIL_DB ??= await writeSource(folder, office.connection)
}

/** A registry that another node has copied, and follows. */
async function mirrored(): Promise<void> {
  const { pool } = demo.server.database.db
  if ((await pool.query("select from registry where namespace = 'births'")).rowCount !== 0) return
  await run('registry', 'add', 'civil', '--namespace', 'births')
  await pool.query(
    `with mirror as (update registry set source = '{"way": "mirror"}' where namespace = 'births' returning id)
     insert into source_mirror (registry, claim, claimed_until, compared_at, current_at)
     select id, gen_random_uuid(), now() + interval '1 day', now(), now() from mirror`,
  )
}

const personOf = (uin: string) => {
  return { '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: uin }] }
}

const spki = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString()

async function signedMessage(pem: string): Promise<string> {
  const jwk = createPrivateKey(pem).export({ format: 'jwk' }) as Jwk
  const header = { sender_id: 'spmis.example.org' }
  const message = { transaction_id: 't-1' }
  const signature = await sign({
    header,
    message,
    namespace: 'registry',
    created: 1,
    expires: 2,
    profile: DEFAULT_SIGNATURE_PROFILE,
    key: { sender_id: header.sender_id, kid: 'sig-2026', algorithm: 'EdDSA', privateKey: await importSigningKey(jwk, 'EdDSA') },
  })
  return JSON.stringify({ signature, header, message })
}

/** An asynchronous search, which `status`, `trace` and `deliveries` tell of. */
async function sendSearch(): Promise<void> {
  const words = ['search', '--identifier', 'UIN=8128560370', '--sender-uri', `${peer.url}/on-search`]
  const { correlation_id } = await rollcallJson(words, env)
  meaning['0b7c1f0e-5d0c-4a55-b2c4-8b3b8f6f3a11'] = correlation_id
  meaning['5f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002'] = correlation_id
  for (let id: string | undefined; id === undefined; ) {
    const [delivery] = await rollcallJson(['deliveries', 'list'], env)
    id = delivery?.id
    if (id !== undefined) meaning['0b1e6c5a-6f0e-4d0f-9d52-2f0d0c1f7a11'] = id
  }
}

async function sendNotification(): Promise<void> {
  const sender = await demo.server.participant('crvs.example.org')
  const header = { message_id: 'm-77', sender_id: sender.sender_id }
  const { status } = await sendCallback(demo.server, 'notify', envelope('notify', { header }), sender)
  expect(status).toBe(200)
}

const run = (...words: string[]) => rollcallJson(words, env)

/** Gives the name of the examples to a subscription in this state. */
async function subscribed(state: string): Promise<void> {
  const { pool } = demo.server.database.db
  const { rows } = await pool.query<{ participant: number; registry: number }>(
    `select participant.id as participant, registry.id as registry from participant, registry
      where namespace = 'civil' order by participant.id limit 1`,
  )
  const [found] = rows
  if (found === undefined) throw new Error('there is nobody who could subscribe')
  const { participant, registry } = found
  const { code } = await eventRows(demo.server.database, { id: registry }).subscribe(
    { id: participant },
    { criteria: { reg_event_type: 'LiveBirth', notify_record_type: 'Person' } },
  )
  await pool.query('update subscription set state = $2 where code = $1', [code, state])
  meaning['SUB-7Q2M4T9XK3B8D5HV6NWPJ0RC'] = code
}

/** Makes a subscription of the demo participant, whose code a made-up one stands for. */
async function demoSubscription(event: string, made_up: string): Promise<void> {
  const address = ['--sender-uri', `${peer.url}/on-subscribe`]
  await run('subscribe', 'civil', '--event', event, '--identifier', 'UIN=0099', ...address)
  for (let code: string | undefined; code === undefined; ) {
    const found = 'select code from subscription where event_type = $1'
    const { rows } = await demo.server.database.db.pool.query(found, [event])
    code = rows[0]?.code
    if (code !== undefined) meaning[made_up] = code
  }
}

/** Fills the names in the examples of backups. */
async function namesOfBackups(): Promise<void> {
  meaning['/backups/rollcall-2026-11-22.backup'] = join(folder, 'one.backup')
  meaning['/journal/rollcall'] = join(folder, 'journal')
  await write('journal', '')
}

/** Tokens of two operators: one proposes what the other one decides about. */
const operators: Record<'proposer' | 'decider', string> = { proposer: '', decider: '' }

async function addOperators(): Promise<void> {
  for (const name of ['proposer', 'decider'] as const) {
    const { token } = await run('operator', 'add', name, '--role', 'own')
    operators[name] = token
  }
}

/** Leaves an act to be decided about, for whose proposal a made-up id stands. */
async function proposed(name: string): Promise<void> {
  const words = ['operator', 'add', name, '--role', 'own']
  const waiting = { ROLLCALL_TWO_PERSON: '1', ROLLCALL_OPERATOR_TOKEN: operators.proposer }
  expect(await rollcall(words, { ...env, ...waiting })).toMatchObject({ code: 5 })
  const as = { ...env, ROLLCALL_OPERATOR_TOKEN: operators.decider }
  const [proposal] = await rollcallJson(['proposal', 'list'], as)
  meaning['0c0e9a4e-52a7-4f0e-8a50-3f1a4d0d3c11'] = proposal.id
}

const addAuthority = () =>
  run('consent', 'authority', 'add', 'https://consent.example.org', '--key', join(folder, 'public-key.pem'))

/** Preparations of examples, where the examples before do not prepare them. */
const PREPARED: Readonly<Record<string, () => Promise<unknown>>> = {
  'backup check': async () => {
    await namesOfBackups()
    await run('backup', join(folder, 'one.backup'))
  },
  // It holds what would be sent, until the example that releases it.
  'restore adopt': () => namesOfBackups(),
  'consent authority remove': () => addAuthority(),
  'consent withdraw': () => addAuthority(),
  'consent revoke': () => addAuthority(),
  'consent reinstate': () => run('consent', 'withdraw', '--identifier', 'UIN=8128560370', '--purpose', 'eligibility'),
  'operator add': () => addAuthority(),
  'operator link': () => run('operator', 'add', 'amina', '--role', 'read'),
  'operator sign-out': () =>
    demo.server.database.db.pool.query(
      `insert into session (id, sha256, token, created_at, seen_at, ends_at)
        select 1, '\\x00', id, now(), now(), now() + interval '1 hour' from operator_token where name = 'amina'`,
    ),
  'proposal list': () => addOperators(),
  'proposal show': () => proposed('zola'),
  'proposal decline': () => proposed('yusuf'),
  'purpose remove': () => run('purpose', 'add', 'research'),
  'registry remove': () => run('registry', 'add', 'civil', '--namespace', 'old-civil'),
  'participant remove': () => run('participant', 'add', 'old.example.org', '--name', 'Old'),
  'source propose': () => sourced(),
  'source check': () => sourced(),
  'source status': () => mirrored(),
  'source rejects': () => mirrored(),
  'source compare': () => mirrored(),
  'record merge': () => run('import', 'civil', join(folder, 'twice.ndjson')),
  'subscriptions show': () => subscribed('live'),
  'subscriptions cancel': () => subscribed('live'),
  'subscriptions test': () => subscribed('live'),
  'subscriptions backfill': () => subscribed('live'),
  'subscriptions resume': async () => {
    await subscribed('suspended')
    const { rows } = await demo.server.database.db.pool.query<{ sender_id: string }>(
      'select sender_id from participant order by id limit 1',
    )
    for (const { sender_id } of rows) await grant(demo.server.database, sender_id, 'civil', { unfiltered: true })
  },
  'participant callback': () =>
    run('participant', 'host', 'allow', 'spmis.example.org', '127.0.0.1', '--port', 'any', '--plain-http', '--loopback'),
  'participant check': async () => {
    // An accepted request is enough for a participant that may do nothing.
    await grant(demo.server.database, 'new.example.org', 'civil-test', { operations: [] })
    await demo.server.database.db.pool.query(
      `insert into exchange (participant, message_id, fingerprint, correlation_id, registry, operation)
        select participant.id, 'm-1', sha256(''), gen_random_uuid(), registry.id, 'search' from participant, registry
        where participant.sender_id = 'new.example.org' and namespace = 'civil-test'`,
    )
  },
  'participant promote': () => write('live-key.pem', spki(generateKeyPairSync('ed25519').publicKey)),
  'grant propose': () => auditing(demo.server.database).addEntry({ participant: 'spmis.example.org' }),
  'audit review': async () => {
    await auditing(demo.server.database).addEntry({ emergency: true, confidential: { reason: 'A fire' } })
    const [waiting] = await run('audit', 'emergencies')
    meaning['4f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002.17'] = waiting.id
  },
  'audit evidence': async () => {
    const { addEntry, sign } = auditing(demo.server.database)
    const request = { message_id: '5f0c2b7e-0d52', digest: '00', kid: null, signature: null }
    await addEntry({ request })
    await sign()
  },
  'audit check': async () => {
    const evidence = await readFile(join(folder, 'evidence.json'), 'utf8')
    meaning.a1b2c3 = JSON.parse(evidence).kid
  },
  'keys revoke': async () => {
    // A value that begins with - would be read as an option.
    const keys: { kid: string }[] = await run('keys', 'list')
    const key = keys.find(({ kid }) => !kid.startsWith('-'))
    if (key === undefined) throw new Error('there is no key of ours')
    meaning['NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'] = key.kid
  },
  unsubscribe: () => demoSubscription('Marriage', 'SUB-4P7QD2MZ3KXRJ5TN6WYBH8CV'),
  simulate: () => demo.server.database.db.pool.query('update registry set demo = true'),
  // A database is a demo's as a whole, or not at all.
  generate: () => demo.server.database.db.pool.query('update registry set demo = false'),
  search: async () => {
    const { client_id, client_secret } = await run('participant', 'secret', 'rotate', 'spmis.example.org')
    meaning['7f0c'] = client_id
    await write('secret.txt', client_secret)
    await run('participant', 'policy', 'spmis.example.org', '--profile', 'default')
    await run('grant', 'set', 'spmis.example.org', 'civil', '--template', 'everything')
    await run('participant', 'key', 'add', 'spmis.example.org', join(folder, 'partner.pem'), '--kid', 'sig-2026')
  },
}

/** Examples that change what the others need run where nobody works. */
const ELSEWHERE: ReadonlySet<string> = new Set(['demo', 'migrate', 'keys rotate-master'])

/** Examples that need the owner of the database. */
const OWNERS: ReadonlySet<string> = new Set(['restore adopt'])

/** Examples for a machine with the Debian package, where `npm run check:debian` runs such commands; elsewhere they are refused. */
const PACKAGED: ReadonlySet<string> = new Set(['setup', 'upgrade'])

/** The first output of commands that run until they are stopped, by a part of the example. */
const BEGUN: Readonly<Record<string, RegExp>> = {
  'rollcall serve': /^Rollcall (?:works|listens)/m,
  'rollcall demo': /"msg":"listening"/,
  'rollcall listen': /^listening on /m,
  ' --listen': /^subscribed as /m,
}

/** The words of a plain command and the variables before it; null for one that needs a shell. */
function plainCommand(text: string): { words: string[]; variables: Record<string, string> } | null {
  if (/[|&"$>`]/.test(text.replaceAll(/'[^']*'/g, ''))) return null
  const all = [...text.replaceAll('\\\n', ' ').matchAll(/(?:'[^']*'|\S)+/g)].map(([word]) => word.replaceAll("'", ''))
  const at = all.indexOf('rollcall')
  const variables = Object.fromEntries(all.slice(0, at).map((word) => word.split('=')))
  return { words: all.slice(at + 1), variables }
}

/** Runs a text in a shell, whose `rollcall` is the command of this source. */
async function inShell(text: string, environment: Record<string, string>): Promise<Ended> {
  const script = `set -e -o pipefail\n${await shellFunction()}\n${text}`
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const options = { cwd: folder, env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...environment } }
  execFile('bash', ['-c', script], options, (error, stdout, stderr) => {
    resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
  })
  return promise
}

async function untilBegun(words: string[], environment: Record<string, string>, begun: RegExp): Promise<Ended> {
  const running = start(words, environment)
  await until(running, () => {
    const { stdout, stderr } = running.output()
    return begun.test(stdout) || begun.test(stderr) ? true : null
  })
  return running.stop('SIGINT')
}

async function runExample({ command, text }: Example): Promise<Ended> {
  const owner = { ROLLCALL_OWNER_DATABASE_URL: databaseUrl(demo.server.database.owner) }
  const environment = {
    ...(ELSEWHERE.has(command) ? other : env),
    ...(OWNERS.has(command) && owner),
    ...(command.startsWith('proposal ') && { ROLLCALL_OPERATOR_TOKEN: operators.decider }),
  }
  const meant = Object.entries(meaning).reduce((so, [name, value]) => so.replaceAll(name, value), text)
  const plain = plainCommand(meant)
  if (plain === null) return inShell(meant, environment)
  const { words, variables } = plain
  const all = { ...environment, ...variables }
  const [, begun] = Object.entries(BEGUN).find(([part]) => text.includes(part)) ?? []
  return begun === undefined ? rollcall(words, all, '', folder) : untilBegun(words, all, begun)
}

const prepared = new Set<string>()

test.each(examples)('$command: $text', async (example) => {
  if (!prepared.has(example.command)) await PREPARED[example.command]?.()
  prepared.add(example.command)
  const { code, stdout, stderr } = await runExample(example)
  const refusal = 'rollcall: this command belongs to the Debian package of Rollcall, which is not installed on this machine\n'
  const expected = PACKAGED.has(example.command) ? { code: 1, stderr: refusal } : { code: 0, stderr: '' }
  expect({ code, stdout, stderr: code === 0 ? '' : stderr }).toEqual({ ...expected, stdout: expect.any(String) })
})
