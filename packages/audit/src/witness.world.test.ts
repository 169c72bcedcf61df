import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { testAuditLog } from '../../settings/test/audit-log.ts'
import { auditEntry } from '../test/audit-entry.ts'
import { countUnwitnessedChains } from './store/checkpoints.ts'
import { WITNESS_TIMEOUT_MS } from './witness.ts'
import { readWitnessLine } from './witness-line.ts'
import { syslogWitness } from './witness-syslog.ts'
import { readWitnessAddress, type WitnessAddress } from './witness-target.ts'

async function database(): Promise<TestDatabase> {
  const made = await startedDatabase()
  onTestFinished(() => made.close())
  return made
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'rollcall-witness-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

/** Writes an entry and ends in order. */
async function oneChain({ db }: TestDatabase, witness: WitnessAddress) {
  const auditLog = testAuditLog(db, { witness })
  await auditLog.write(auditEntry(), [])
  await auditLog.close()
  return auditLog
}

const checkpoint = async ({ db }: TestDatabase) =>
  (
    await db.pool.query(
      `select chain, sequence, encode(hash, 'hex') as hash, encode(digest, 'hex') as digest, kid from account_checkpoint`,
    )
  ).rows[0]

test.each([
  ['witness.log', { kind: 'file', path: 'witness.log' }],
  ['/var/log/witness', { kind: 'file', path: '/var/log/witness' }],
  ['syslog://log.example', { kind: 'udp', host: 'log.example', port: 514 }],
  ['syslog://[::1]:5140', { kind: 'udp', host: '::1', port: 5140 }],
  ['syslog+tcp://log.example:601', { kind: 'tcp', host: 'log.example', port: 601 }],
  ['https://log.example', null],
  ['syslog://', null],
  ['syslog://user@log.example', null],
  ['syslog://log.example/path', null],
  ['syslog+tls://log.example', null],
])('ROLLCALL_WITNESS=%s', (text, address) => {
  expect(readWitnessAddress(text)).toEqual(address)
})

test('a file gets a line for each checkpoint, which only its owner may read', async () => {
  const on = await database()
  const path = join(await folder(), 'witness')
  const auditLog = await oneChain(on, { kind: 'file', path })
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  expect(lines.map(readWitnessLine)).toEqual([{ ...(await checkpoint(on)), at: expect.any(String), ended: true }])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(auditLog.counted).toContain('witness taken')
})

test('a syslog server gets a datagram of RFC 5424', async () => {
  const on = await database()
  const server = createSocket('udp4').bind(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const received = once(server, 'message')
  await oneChain(on, { kind: 'udp', host: '127.0.0.1', port: server.address().port })
  const message = String((await received)[0])
  expect(message).toMatch(/^<109>1 \d{4}-\d\d-\d\dT[\d:.]+Z [!-~]+ rollcall \d+ checkpoint - \{"rollcall_checkpoint"/)
  expect(readWitnessLine(message)).toMatchObject(await checkpoint(on))
})

test('a file that root makes belongs to the owner of its folder, whose service writes it too', async () => {
  const on = await database()
  const place = await folder()
  const service = process.getuid?.() === 0 ? 54_321 : process.getuid?.()
  if (process.getuid?.() === 0) await chown(place, 54_321, 54_321)
  await oneChain(on, { kind: 'file', path: join(place, 'witness') })
  expect(await stat(join(place, 'witness'))).toMatchObject({ uid: service, mode: 0o100600 })
})

test('over TCP the messages have octet counts', async () => {
  const on = await database()
  const parts: Buffer[] = []
  const server = createServer((socket) => socket.on('data', (part: Buffer) => parts.push(part)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const ended = once(server, 'connection').then(([socket]) => once(socket, 'end'))
  await oneChain(on, { kind: 'tcp', host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  await ended
  const [, octets, message] = /^(\d+) (.*)$/s.exec(Buffer.concat(parts).toString()) ?? []
  expect(Buffer.byteLength(String(message))).toBe(Number(octets))
  expect(readWitnessLine(String(message))).toMatchObject(await checkpoint(on))
})

test('a witness that fails stops nothing; it is counted, logged once and named by the next checkpoint, and gets what it missed', async () => {
  const on = await database()
  const path = join(await folder(), 'not-there', 'witness')
  const auditLog = testAuditLog(on.db, { witness: { kind: 'file', path }, limits: { checkpoint_entries: 1 } })
  const checkpoints = (count: number) =>
    expect
      .poll(async () => (await on.db.pool.query('select content::json from account_checkpoint order by id')).rows)
      .toHaveLength(count)
  for (const count of [1, 2]) {
    await auditLog.write(auditEntry(), [])
    await checkpoints(count)
    await expect.poll(() => auditLog.counted.filter((line) => line === 'witness failed')).toHaveLength(count)
  }
  expect(auditLog.logged).toEqual(['the witness of the audit log does not take checkpoints'])
  expect(await countUnwitnessedChains(on.db)).toEqual({ unwitnessed: 1, unwitnessedEntries: 2 })
  await mkdir(join(path, '..'))
  await auditLog.close()
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n').map(readWitnessLine)
  expect(lines.map((line) => line?.sequence)).toEqual([1, 2, 2])
  const { rows } = await on.db.pool.query(`select content::json ->> 'witness' as witness from account_checkpoint order by id`)
  expect(rows.map(({ witness }) => witness)).toEqual(['good', 'failed', 'failed'])
  expect(auditLog.logged.at(-1)).toBe('the witness of the audit log takes checkpoints again')
})

test('a witness that does not answer is given up after its time, and stops neither checkpoints nor the end', async () => {
  const on = await database()
  const path = join(await folder(), 'pipe')
  // Opening it waits for a reader, as a file of a server that is away does.
  execFileSync('mkfifo', [path])
  const auditLog = testAuditLog(on.db, { witness: { kind: 'file', path }, limits: { checkpoint_entries: 1 } })
  const failures = (count: number) =>
    expect
      .poll(() => {
        auditLog.clock.pass(WITNESS_TIMEOUT_MS)
        return auditLog.counted.filter((line) => line === 'witness failed').length
      })
      .toBe(count)
  for (const count of [1, 2]) {
    await auditLog.write(auditEntry(), [])
    await failures(count)
  }
  const closing = auditLog.close()
  await failures(3)
  await closing
  const { rows } = await on.db.pool.query(
    `select sequence, content::json ->> 'witness' as witness from account_checkpoint order by id`,
  )
  expect(rows.map(({ sequence, witness }) => [sequence, witness])).toEqual([
    [1, 'good'],
    [2, 'failed'],
    [2, 'failed'],
  ])
  expect(auditLog.unwitnessed()).toBe(3)
})

test('a syslog server that takes no connection is given up too', async () => {
  const target = syslogWitness({ kind: 'tcp', host: '192.0.2.1', port: 601 })
  await expect(target.write(['line'], AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
})

test('a line behind one that was cut off is read', () => {
  const line = { chain: 'c', sequence: 1, hash: 'h', at: 'a', ended: false, digest: 'd'.repeat(64), kid: 'k' }
  const whole = JSON.stringify({ rollcall_checkpoint: line })
  expect(readWitnessLine(`${whole.slice(0, 40)}${whole}`)).toEqual(line)
})

test.each(['', 'a line', '{"rollcall_checkpoint":', '{"rollcall_checkpoint":{}}', '{"rollcall_checkpoint":null}'])(
  'no checkpoint: %s',
  (line) => expect(readWitnessLine(line)).toBeNull(),
)
