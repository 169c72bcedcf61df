/** The file of the journal: whose it is, and what is said where the service cannot write it. */
import { chown, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { examineDatabase } from '@rollcall/admin/database'
import { setParticipantStatus } from '@rollcall/admin/participants/participants'
import { expect, onTestFinished, test } from 'vitest'
import { runHousekeeping } from '../../../src/app/housekeeping.ts'
import { adminCaller } from '../../admin-api.ts'
import { QUIET, testServer } from '../../server.ts'

const isRoot = process.getuid?.() === 0

/** A server with a journal in a folder that belongs to the user of a service, where the test may give it away. */
async function journaled(owner: number | undefined = process.getuid?.()) {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-journal-'))
  const path = join(folder, 'journal')
  if (isRoot && owner !== undefined) await chown(folder, owner, owner)
  const server = await testServer({ ROLLCALL_JOURNAL: path }, undefined, QUIET)
  onTestFinished(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })
  await server.participant('peer.example')
  return { server, path, api: await adminCaller(server) }
}

const DISABLING = '/participants/peer.example/disable'

test('the file that root makes belongs to the owner of its folder', async () => {
  const service = isRoot ? 54_321 : process.getuid?.()
  const { server, path } = await journaled(service)
  await setParticipantStatus(server.context, { sender_id: 'peer.example', status: 'disabled' })
  expect(await stat(path)).toMatchObject({ uid: service, mode: 0o100600 })
})

test('an act is answered 503 where the journal cannot be written, with the owner of the file', async () => {
  const { server, path, api } = await journaled()
  await mkdir(path)
  if (isRoot) await chown(path, 54_321, 54_321)
  const [owner, user] = isRoot ? ['uid 54321', 'root'] : [`uid ${process.getuid?.()}`, `uid ${process.getuid?.()}`]
  const problem = `the journal ${path} cannot be written (EISDIR: it belongs to ${owner}, and this process runs as ${user}), and nothing is done without it: see ROLLCALL_JOURNAL (docs/backup.md)`
  expect(await api.refusal(DISABLING, {})).toBe(`503 err.service.unavailable ${problem}`)

  // The service says so itself, whoever asks; and that it is well again.
  const said = async () => {
    await runHousekeeping(server.context, new AbortController().signal)
    return (await examineDatabase(server.database, {})).journals
  }
  expect(await said()).toEqual([{ machine: hostname(), path, problem }])
  expect(server.logged()).toContain('erasures and revocations are refused')
  await rm(path, { recursive: true })
  expect(await said()).toEqual([{ machine: hostname(), path, problem: null }])
  expect((await api.post(DISABLING, {})).status).toBe(200)

  // A service that has stopped says nothing.
  await server.database.db.pool.query(`update journal_report set reported_at = now() - interval '4 minutes'`)
  expect((await examineDatabase(server.database, {})).journals).toEqual([])
})
