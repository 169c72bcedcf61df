/** Sources whose connections are encrypted: the certificate of a database is verified, and a wrong one is named. */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programOrSkip } from '../../../test/programs.ts'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { kind } from '../test/asking.ts'
import { type MariadbProcess, startMariadb } from '../test/mariadb-setup.ts'
import { addressOf, makeOffice, officeSource } from '../test/office.ts'
import { checkSource } from './check-source.ts'
import { openEngine } from './engines.ts'
import { readSourceFile } from './source-file.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tls-'))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const openssl = (...args: readonly string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
const path = (name: string): string => join(folder, name)

/** A certificate authority, and what it signed for `localhost`. */
function makeAuthority(name: string): void {
  const key = ['-newkey', 'rsa:2048', '-nodes', '-days', '2']
  openssl('req', '-x509', ...key, '-keyout', `${name}-ca.key`, '-out', `${name}-ca.pem`, '-subj', `/CN=${name}`)
  openssl('req', ...key.slice(0, 3), '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=localhost')
  writeFileSync(path('names'), 'subjectAltName=DNS:localhost')
  const signed = ['-CA', `${name}-ca.pem`, '-CAkey', `${name}-ca.key`, '-CAcreateserial', '-extfile', 'names', '-days', '2']
  openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed)
}

/** The result of a check of a source: what it reports about the database and its weaknesses, or the refusal. */
async function checked(given: object, address: string): Promise<unknown> {
  const file = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
  const engine = openEngine(file, { OFFICE: address })
  try {
    return (await checkSource(kind, file, engine)).weak
  } catch (error) {
    return error instanceof Error ? error.message : error
  } finally {
    await engine.close()
  }
}

const UNSIGNED = /^the certificate of the database at the address in OFFICE is not signed by those of tls\.ca \(\w+\)$/
const ANOTHER_HOST =
  /^the certificate of the database at the address in OFFICE is not for the host of the address \(ERR_TLS_CERT_ALTNAME_INVALID\)$/
const PLAIN = 'the database at the address in OFFICE does not encrypt its connections'

test('PostgreSQL with a certificate of its own authority', async (context) => {
  programOrSkip(context, 'openssl')
  makeAuthority('office')
  makeAuthority('other')
  const office = await emptyDatabase()
  await makeOffice(office.connection, [])
  const { host, port } = office.connection
  const server = await encrypting(join(host, `.s.PGSQL.${port}`))
  const source = officeSource({ env: 'OFFICE' })
  try {
    const at = { ...office.connection, port: (server.address() as AddressInfo).port }
    const address = addressOf({ ...at, host: 'localhost' })
    const signed = (name: string) => ({ ...source, tls: { ca: path(name) } })
    expect(await checked(signed('office-ca.pem'), address)).toEqual([])
    expect(await checked(signed('other-ca.pem'), address)).toMatch(UNSIGNED)
    expect(await checked(signed('office-ca.pem'), addressOf({ ...at, host: '127.0.0.1' }))).toMatch(ANOTHER_HOST)
    expect(await checked(signed('office-ca.pem'), addressOf(office.connection))).toBe(PLAIN)
  } finally {
    server.close()
    await office.drop()
  }
})

test('MariaDB with a certificate of its own authority', async (context) => {
  programOrSkip(context, 'openssl')
  const program = programOrSkip(context, 'mariadbd')
  makeAuthority('maria')
  makeAuthority('another')
  const port = await freePort()
  const files = [`--ssl-ca=${path('maria-ca.pem')}`, `--ssl-cert=${path('maria.pem')}`, `--ssl-key=${path('maria.key')}`]
  const server: MariadbProcess = await startMariadb(program, folder, [`--port=${port}`, '--bind-address=127.0.0.1', ...files])
  try {
    const owner = await createConnection({ socketPath: server.socketPath, user: 'root', multipleStatements: true })
    await owner.query(`create database office; create table office.person (no int primary key, uin varchar(20), index (uin));
      create user reader identified by 'reads' require ssl; grant select on office.* to reader`)
    await owner.end()
    const Person = { from: 'person', key: 'no', columns: { 'identifier[UIN]': 'uin' } }
    const source = { engine: 'mariadb', url: { env: 'OFFICE' }, way: 'live', records: { Person } }
    const signed = (name: string) => ({ ...source, tls: { ca: path(name) } })
    const address = (host: string, more = ''): string => `mariadb://reader:reads@${host}:${port}/office${more}`
    expect(await checked(signed('maria-ca.pem'), address('localhost'))).toEqual([])
    expect(await checked(signed('another-ca.pem'), address('localhost'))).toMatch(UNSIGNED)
    expect(await checked(source, address('localhost', '?ssl-mode=VERIFY_IDENTITY'))).toMatch(UNSIGNED)
    expect(await checked(source, address('localhost', '?ssl-mode=REQUIRED'))).toEqual([
      'the certificate of the database is verified only as its address says: write tls to verify it',
    ])
    expect(await checked(source, address('localhost'))).toBe('there is no answer from a database at the address in OFFICE (1045)')
  } finally {
    await server.stop()
  }
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The PostgreSQL of the run has a socket alone, on which nothing is encrypted: this encrypts what goes to and from it. */
async function encrypting(socketPath: string): Promise<Server> {
  const server = createServer((plain) => {
    plain.once('data', () => {
      // The first message asks whether it encrypts.
      plain.write('S')
      const secure = new TLSSocket(plain, {
        isServer: true,
        key: readFileSync(path('office.key')),
        cert: readFileSync(path('office.pem')),
      })
      const database = connect(socketPath)
      for (const one of [plain, secure, database]) one.on('error', () => database.destroy())
      secure.pipe(database).pipe(secure)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
