import { readConfig } from '@rollcall/settings/config'
import { expect, test } from 'vitest'
import { DATABASE_CHECKS } from './database.ts'
import { type DatabaseFacts, type FileModeFacts, judgeFacts } from './finding.ts'
import { SETTING_CHECKS } from './settings.ts'

const NO_FILES: FileModeFacts = { data_directory: null, password: null, demo_file: null, master_key: null }

const judgeSettings = (env: Record<string, string>, files: Partial<FileModeFacts> = {}) =>
  judgeFacts(SETTING_CHECKS, { config: readConfig(env), files: { ...NO_FILES, ...files } })

const GOOD: DatabaseFacts = {
  embedded: false,
  twoPerson: false,
  journal: '/var/lib/rollcall/journal',
  operators: 1,
  settings: { version: '18.4', encoding: 'UTF8', fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
  roles: { database: 'registry', schema: 'public', application: 'rollcall', superuser: false, separate: true },
  content: { demo: [], real: ['registry civil'] },
  pending: [],
  unreadable: [],
  overdue: 0,
  withClosedMailbox: [],
  withHeldDeliveries: [],
  outbox: { waiting: 3, failed: 0, oldest: 59.9 },
  mirrors: [],
  journals: [{ machine: 'node-1', path: '/var/lib/rollcall/journal', problem: null }],
  unwitnessed: 0,
  unwitnessedEntries: 0,
  disabled: [],
  withoutSecret: [],
  unsigned: [],
  withoutSignatureKey: [],
  grants: { weak: [], expiring: [], without: [] },
  indexes: [],
  plainHttp: [],
}

const judgeDatabase = (facts: Partial<DatabaseFacts>) => judgeFacts(DATABASE_CHECKS, { ...GOOD, ...facts })

const MIRROR = { namespace: 'civil', lag: 1, behind: 0, rejects: 0, failure: null }
const participant = { sender_id: 'x.example' }

test('by default nothing is weak', () => {
  const rows = judgeSettings({})
  expect(rows.filter(({ state }) => state !== 'ok')).toEqual([])
  expect(judgeDatabase({}).every(({ state }) => state === 'ok')).toBe(true)
})

const BEHIND_PROXY = { HOST: '0.0.0.0', ROLLCALL_BEHIND_TLS_PROXY: '1' }

test('a witness of the audit log is asked for where the database is not the embedded one', () => {
  const of = (env: Record<string, string>) => judgeSettings(env).find(({ check }) => check === 'accounts_witness')
  expect(of({})).toBeUndefined()
  const DATABASE_URL = 'postgres://127.0.0.1/registry'
  expect(of({ DATABASE_URL })).toMatchObject({ state: 'weak', advice: expect.stringContaining('ROLLCALL_WITNESS') })
  expect(of({ DATABASE_URL, ROLLCALL_WITNESS: 'syslog://log.example' })).toMatchObject({ state: 'ok' })
})

test.each([
  [
    'listener',
    { HOST: '0.0.0.0' },
    'broken',
    'put a proxy that terminates TLS in front of it and set ROLLCALL_BEHIND_TLS_PROXY=1',
  ],
  ['listener', { ...BEHIND_PROXY, ROLLCALL_PUBLIC_URL: 'http://a.example' }, 'weak', 'https address'],
  ['listener', { ...BEHIND_PROXY, ROLLCALL_PUBLIC_URL: 'https://a.example' }, 'ok', 'https://a.example'],
  ['operator_listener', { ADMIN_HOST: '10.0.0.1' }, 'broken', 'serve refuses it'],
  ['operator_listener', { ADMIN_HOST: '10.0.0.1', ROLLCALL_ADMIN_PRIVATE_NETWORK: '1' }, 'weak', 'metrics need no login'],
  ['token_query', { ROLLCALL_TOKEN_QUERY: '1' }, 'weak', 'unset it'],
  ['limits', { ROLLCALL_MAX_PAGE_SIZE: '101' }, 'weak', 'ROLLCALL_MAX_PAGE_SIZE=101 (default 100)'],
  ['limits', { ROLLCALL_MAX_PAGE_SIZE: '99', ROLLCALL_TIMESTAMP_WINDOW: '600' }, 'ok', 'no limit'],
  ['master_key', { DATABASE_URL: 'postgres://[::1]/x' }, 'broken', 'that is not set'],
  ['master_key', { ROLLCALL_MASTER_KEY: 'ab'.repeat(32) }, 'ok', 'ROLLCALL_MASTER_KEY'],
  ['database_tls', { DATABASE_URL: 'postgres://db.example/x' }, 'weak', 'sslmode=verify-full'],
  ['database_tls', { DATABASE_URL: 'postgres://db.example/x?sslmode=no-verify' }, 'weak', 'unchecked server'],
  ['database_tls', { DATABASE_URL: 'postgres://db.example/x?sslmode=verify-full' }, 'ok', 'encrypted'],
  ['database_tls', { DATABASE_URL: 'postgres://u:p@/x?host=%2Frun%2Fpostgresql' }, 'ok', 'on this machine'],
  ['database_tls', { DATABASE_URL: 'postgres://u:p@/x?host=db.example' }, 'weak', 'unencrypted'],
  ['database_tls', { DATABASE_URL: 'postgres://[::1]/x' }, 'ok', 'on this machine'],
  ['database_tls', { DATABASE_URL: 'postgres://[x/y' }, 'broken', 'must be an address'],
])('%s with %j is %s', (check, env, state, advice) => {
  const row = judgeSettings(env).find((found) => found.check === check)
  expect(row).toMatchObject({ check, state, advice: expect.stringContaining(advice) })
})

test.each([
  ['data_directory_mode', { data_directory: 0o755 }, 'ok', '0755'],
  ['data_directory_mode', { data_directory: 0o777 }, 'weak', 'chmod go-w'],
  ['password_file_mode', { password: 0o600 }, 'ok', '0600'],
  ['password_file_mode', { password: 0o640 }, 'broken', 'chmod 600'],
  ['master_key', { master_key: 0o600 }, 'weak', 'set ROLLCALL_MASTER_KEY'],
  ['master_key', { master_key: 0o640 }, 'broken', 'chmod 600'],
  ['demo_file_mode', { demo_file: 0o644 }, 'broken', 'replace the secret'],
])('%s of %j is %s', (check, files, state, advice) => {
  const row = judgeSettings({}, files).find((found) => found.check === check)
  expect(row).toMatchObject({ check, state, advice: expect.stringContaining(advice) })
})

test.each<[string, Partial<DatabaseFacts>, string, string]>([
  ['database', { embedded: true }, 'weak', 'set DATABASE_URL'],
  ['two_person', { operators: 2 }, 'weak', 'set ROLLCALL_TWO_PERSON=1'],
  ['two_person', { operators: 2, twoPerson: true }, 'ok', 'second operator'],
  ['second_operator', { operators: 1, twoPerson: true }, 'weak', 'without two nothing is approved'],
  ['postgresql_version', { settings: { ...GOOD.settings, version: '14.9' } }, 'broken', '15 or newer'],
  ['encoding', { settings: { ...GOOD.settings, encoding: 'SQL_ASCII' } }, 'broken', "ENCODING 'UTF8'"],
  ['fsync', { settings: { ...GOOD.settings, fsync: 'off' } }, 'broken', 'turn it on'],
  ['full_page_writes', { settings: { ...GOOD.settings, full_page_writes: 'off' } }, 'broken', 'turn it on'],
  ['synchronous_commit', { settings: { ...GOOD.settings, synchronous_commit: 'off' } }, 'weak', 'turn it on'],
  ['synchronous_commit', { settings: { ...GOOD.settings, synchronous_commit: 'remote_apply' } }, 'ok', 'remote'],
  ['registries', { unreadable: [{ id: 3, namespace: 'civil', error: 'TypeError' }] }, 'broken', 'civil (id 3, TypeError)'],
  [
    'database_roles',
    { roles: { ...GOOD.roles, separate: false } },
    'weak',
    'alter database "registry" owner to rollcall_owner; alter schema "public" owner to rollcall_owner; Then set ' +
      'ROLLCALL_OWNER_DATABASE_URL',
  ],
  [
    'database_roles',
    { roles: { ...GOOD.roles, separate: false, superuser: true } },
    'weak',
    "create role rollcall_application login password '...'; Then move the address of DATABASE_URL",
  ],
  [
    'held_deliveries',
    { withHeldDeliveries: [participant] },
    'weak',
    'answers to x.example are held, because no address for callbacks is known: set one',
  ],
  ['mailboxes', { withClosedMailbox: [participant] }, 'weak', 'a mailbox of x.example is closed'],
  [
    'accounts_witnessed',
    { unwitnessed: 2, unwitnessedEntries: 40 },
    'weak',
    '2 processes could not give the last checkpoints to the witness, which lacks up to 40 entries',
  ],
  [
    'journal',
    { journals: [{ machine: 'node-1', path: '/j', problem: 'the journal /j cannot be written (EACCES)' }] },
    'broken',
    'erasures and revocations are refused; the service on node-1 says: the journal /j cannot be written (EACCES)',
  ],
  [
    'journal',
    { journals: [] },
    'weak',
    'no service has said within 3 minutes that it can write its journal: start it with ROLLCALL_JOURNAL=/var/lib/rollcall/journal, or read its log',
  ],
  ['journal', { journals: [], journal: undefined }, 'weak', 'there is no journal: a restore from a backup'],
  ['journal', {}, 'ok', 'the service writes erasures and revocations to /var/lib/rollcall/journal on node-1'],
  ['outbox', { outbox: { waiting: 0, failed: 2, oldest: 0 } }, 'weak', '2 rows of the outbox could not'],
  [
    'mirrors',
    { mirrors: [{ ...MIRROR, failure: 'there is no answer' }] },
    'weak',
    'the copy of civil cannot follow its source: there is no answer',
  ],
  [
    'mirrors',
    { mirrors: [{ ...MIRROR, lag: null }] },
    'weak',
    'civil cannot be asked until all records were read once: rollcall source status says how far it is',
  ],
  ['mirrors', { mirrors: [{ ...MIRROR, lag: 61 }] }, 'weak', 'civil may miss changes of the last minute: start a worker'],
  [
    'outbox',
    { outbox: { waiting: 7, failed: 0, oldest: 60.4 } },
    'weak',
    '7 rows of the outbox wait, the oldest for 60 seconds: start a worker',
  ],
  ['nodes', { overdue: 7 }, 'weak', '7 accepted requests are due for a minute'],
  ['nodes', { overdue: 1 }, 'weak', '1 accepted request is due for a minute'],
  [
    'accounts_witnessed',
    { unwitnessed: 1, unwitnessedEntries: 1 },
    'weak',
    '1 process could not give the last checkpoints to the witness, which lacks up to 1 entry',
  ],
  ['migrations', { pending: ['0001-directory'] }, 'weak', '0001-directory will run'],
  ['demo_data', { content: { demo: ['registry civil'], real: [] } }, 'weak', 'registry civil: rollcall serve'],
  ['demo_data', { content: { demo: ['registry a'], real: ['registry b'] } }, 'broken', 'beside registry b'],
  [
    'filled_attributes',
    { indexes: [{ namespace: 'civil', unfilled: ['clan', 'district'], missing: [] }] },
    'weak',
    'searches with clan of civil, district of civil are refused until rollcall index apply has run',
  ],
  [
    'indexes',
    {
      indexes: [
        { namespace: 'civil', unfilled: [], missing: [] },
        { namespace: 'ibr', unfilled: [], missing: ['sex'] },
      ],
    },
    'weak',
    'searches by sex of ibr read every record until rollcall index apply has run',
  ],
  ['client_secrets', { withoutSecret: [participant] }, 'weak', 'x.example cannot get a token'],
  ['signatures', { unsigned: [participant] }, 'weak', 'unsigned messages of x.example are accepted'],
  ['signature_keys', { withoutSignatureKey: [participant] }, 'weak', 'x.example must sign and has no valid key'],
  [
    'grants',
    { grants: { ...GOOD.grants, weak: [{ ...participant, namespace: 'civil' }] } },
    'weak',
    'the grant of x.example in civil asks and shows everything of every record',
  ],
  [
    'expiring_grants',
    { grants: { ...GOOD.grants, expiring: [{ ...participant, namespace: 'civil', valid_until: '2026-12-01T00:00:00.000Z' }] } },
    'weak',
    'the grant of x.example in civil (2026-12-01T00:00:00.000Z) ends soon',
  ],
  [
    'without_grant',
    { grants: { ...GOOD.grants, without: [participant] } },
    'weak',
    'x.example may do nothing in any registry: rollcall grant set',
  ],
  ['plain_http', { plainHttp: [{ ...participant, hosts: ['a.internal'] }] }, 'weak', 'without TLS to a.internal of x.example'],
  ['plain_http', { plainHttp: [{ ...participant, hosts: ['127.0.0.1', 'localhost'] }] }, 'ok', 'none but to this machine'],
  ['disabled_participants', { disabled: [participant] }, 'ok', 'x.example: refused until enabled'],
])('%s with %j is %s', (check, facts, state, advice) => {
  const row = judgeDatabase(facts).find((found) => found.check === check)
  expect(row).toMatchObject({ check, state, advice: expect.stringContaining(advice) })
})
