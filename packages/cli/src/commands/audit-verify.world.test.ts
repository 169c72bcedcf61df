import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { masterKeyOfRun } from '../../../keys/test/postgres.ts'
import { dropPerson, tamper, writeChain } from '../../../settings/test/tampering.ts'
import { rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env, home } = await commandDatabase()
const withKey = { ...env, ROLLCALL_MASTER_KEY: masterKeyOfRun() }
const witness = join(home.path, 'witness')

test('the audit log is verified and compared with a witness, and the keys are listed', async () => {
  expect(await rollcallJson(['audit', 'verify'], withKey)).toMatchObject({ good: true, own_keys: true, keys: [] })
  await writeChain(database, 10)
  const [key] = await rollcallJson(['audit', 'keys'], env)
  expect(key.public_key).toMatchObject({ kty: 'OKP', crv: 'Ed25519' })
  await writeFile(witness, '')
  const { stdout } = await rollcall(['audit', 'verify', '--against', witness], withKey)
  expect(stdout).toBe(`verified: 10 entries of 1 chain, 20 rows of persons, 3 checkpoints\nsigned with ${key.fingerprint}\n`)
  const { stdout: table } = await rollcall(['audit', 'keys'], env)
  expect(table).toContain(key.fingerprint)
})

test('without a master key it says what is left to do', async () => {
  const { stdout, code } = await rollcall(['audit', 'verify'], { ...env, ROLLCALL_MASTER_KEY: '' })
  expect(code).toBe(0)
  expect(stdout).toContain('There is no master key here: compare these keys with those that you have written down.')
})

test('faults are named, and the exit code is 1', async () => {
  const [{ chain, digest, hash }] = (
    await database.db.pool.query(
      `select chain, encode(digest, 'hex') as digest, encode(hash, 'hex') as hash from account_checkpoint where sequence = 10`,
    )
  ).rows
  const line = { chain, sequence: 12, hash, at: '2026-01-01T00:00:00Z', ended: true, kid: 'k' }
  const other = digest.replace(/^./, digest.startsWith('0') ? '1' : '0')
  const lost = JSON.stringify({ rollcall_checkpoint: { ...line, digest: other } })
  await writeFile(witness, `${lost}\n`)
  await tamper(database, `delete from account where sequence = 3`)
  await dropPerson(database, chain, 5, 1)
  const { stdout, code } = await rollcall(['audit', 'verify', '--against', witness], withKey)
  expect(code).toBe(1)
  expect(stdout.split('\n').slice(0, 5)).toEqual([
    'NOT VERIFIED, faults: 3; read 9 entries of 1 chain, 17 rows of persons, 3 checkpoints',
    `- chain ${chain}, entry 3, to 3: entries are missing in the middle of a chain`,
    `- chain ${chain}, entry 5, position 1: the row of a person was deleted without a tombstone`,
    `- chain ${chain}, entry 12: the witness has a checkpoint that the database does not have: the database was rolled back, or it was removed`,
    'compared with 1 checkpoint of the witness',
  ])
  const { stdout: json } = await rollcall(['audit', 'verify', '--json'], withKey)
  expect(JSON.parse(json)).toMatchObject({ good: false, fault_count: 2 })
})

test('a file that is not there, and a folder, are refused', async () => {
  for (const path of [join(home.path, 'nothing'), home.path]) {
    const { stderr, code } = await rollcall(['audit', 'verify', '--against', path], withKey)
    expect(code).toBe(1)
    expect(stderr).toBe(`rollcall: the file of the witness cannot be read: ${path}\n`)
  }
})
