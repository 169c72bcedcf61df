/** A civil office's database from the proposal of its source file to answers and notifications, as a copy and live. */

import { addRegistry, changeRegistry } from '@rollcall/admin/registries/registries'
import { checkSource } from '@rollcall/admin/registries/source-check'
import { proposeSource } from '@rollcall/admin/registries/source-proposal'
import { showSourceStatus } from '@rollcall/admin/registries/source-status'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { listRegistries } from '@rollcall/records/registries/registries'
import { startFollowers } from '@rollcall/source/mirror/followers'
import { openSources } from '@rollcall/source/open-sources'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { acting } from '../../admin/test/acting.ts'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { grant } from '../../participants/test/grants.ts'
import { decided } from '../../source/test/decided.ts'
import { makeMirroredOffice } from '../../source/test/mirrored-office.ts'
import { officeReader } from '../../source/test/office.ts'
import { asyncPeer, callbacksTo } from './asynchronous.ts'
import { postSearch, testServer } from './server.ts'
import { about, codeOf } from './subscribing.ts'

test('a source is proposed, decided, checked and copied; its changes are found and notified; live it gives the same answers', async () => {
  const server = await testServer()
  onTestFinished(() => server.close())
  const { db } = server.database
  const empty = await emptyDatabase()
  const office = await makeMirroredOffice(empty.connection, [
    { person_no: 1, national_no: 'A1', family_name: 'Okoro', given_name: 'Ada', gender: 2, born: '1985-06-12' },
    { person_no: 2, national_no: 'A2', family_name: 'Obi', gender: 1, born: '1985-06-12', birth: { no: 'B2' } },
  ])
  const env = { OFFICE: await officeReader(empty.connection) }
  const sources = openSources(db, env)
  const log = { warn: () => undefined, info: () => undefined }
  const limits = { ...DEFAULT_LIMITS, node_lease: 2 }
  const wake = server.context.sourcesWake
  const followers = startFollowers({ db, env, limits, log, wake, registries: () => listRegistries(db) })
  onTestFinished(async () => {
    await followers.stop()
    await sources.close()
    await office.end()
    await empty.drop()
  })
  const deps = acting({ db, env })

  const { file } = await proposeSource(deps, { of: 'civil', engine: 'postgresql', url_env: 'OFFICE' })
  await expect(checkSource(deps, { of: 'civil', source: parse(file) })).rejects.toThrow('stands for "?"; decide it')
  const live = { ...parse(decided(file)), statement_timeout: 60 }
  const { Person } = live.records
  const mirror = {
    ...live,
    ...{ way: 'mirror', follow: 'poll', poll: { every: 0.1, overlap: 5 } },
    records: {
      Person: {
        ...Person,
        changed: 'changed_at',
        children: Person.children.map((child: object) => ({ ...child, changed: 'changed_at' })),
      },
    },
  }
  expect(await checkSource(deps, { of: 'civil', source: mirror })).toMatchObject({
    writes: [],
    records: [{ record_type: 'Person', rows: 2, left_out: 0 }],
  })
  await addRegistry(deps, { kind: 'civil', source: mirror })
  const peer = await asyncPeer(server, 'peer.example')
  await grant(server.database, 'peer.example', 'civil', {
    operations: ['search', 'subscribe'],
    see: ['identifier', 'surname', 'given_name', 'death_date'],
    event_types: ['Death'],
  })
  const status = async () => (await showSourceStatus(deps, { namespace: 'civil' })).state
  await expect.poll(status).toBe('following')

  const byUin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
  const asked = [byUin('A1'), byUin('A2'), byUin('A9'), { query_type: 'expression', query: { birth_date: '1985-06-12' } }]
  const answers = async () => {
    const { body, status: code } = await postSearch(
      server,
      peer,
      asked.map((search_criteria) => ({ search_criteria })),
    )
    if (code !== 200) return code
    return body.message.search_response.map(
      ({ status: item, data, pagination, status_reason_code }: Record<string, { reg_records?: unknown[] }>) => {
        const found = data?.reg_records?.map((record) => JSON.stringify(record)).toSorted()
        return [item, found, pagination, status_reason_code]
      },
    )
  }
  await expect.poll(async () => JSON.stringify(await answers())).toContain('Okoro')
  expect(JSON.stringify(await answers())).not.toContain('1985')

  await codeOf(server, peer, about('A1', { reg_event_type: 'Death' }), 'civil')
  await office.query(`insert into office.death values ('D1', 1, '2026-11-01')`)
  await expect.poll(async () => JSON.stringify(await answers())).toContain('2026-11-01')
  const working = new AbortController()
  onTestFinished(() => working.abort())
  const notified = async () => {
    const { mailboxes, dispatcher } = server.context
    mailboxes.anyDue()
    await mailboxes.poll(working.signal)
    await dispatcher.poll(working.signal)
    return callbacksTo(peer.receiver).filter(({ path }) => path.endsWith('on-notify') || path.endsWith('notify'))
  }
  await expect.poll(async () => JSON.stringify(await notified())).toContain('2026-11-01')

  const copied = await answers()
  await changeRegistry(deps, { namespace: 'civil', source: live })
  const ways = async () => (await listRegistries(db)).map(({ own_records }) => own_records)
  expect(await ways()).toEqual([false])
  await expect.poll(answers).toEqual(copied)
  await changeRegistry(deps, { namespace: 'civil', source: mirror })
  await expect.poll(status).toBe('following')
  await expect.poll(answers).toEqual(copied)

  // The source is stopped: what the copy has answers, and what changed meanwhile is found.
  const outside = new pg.Client({ ...empty.connection, database: 'postgres' })
  await outside.connect()
  onTestFinished(() => outside.end())
  const { database, user } = empty.connection
  await office.query('begin')
  await office.query(`update office.person set family_name = 'Obi-Ade' where person_no = 2`)
  await outside.query(`alter database ${database} allow_connections false`)
  await outside.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename <> $2', [
    database,
    user,
  ])
  await expect.poll(status).toBe('failing')
  await office.query('commit')
  expect(await answers()).toEqual(copied)
  await outside.query(`alter database ${database} allow_connections true`)
  await expect.poll(async () => JSON.stringify(await answers())).toContain('Obi-Ade')
  expect((await notified()).length).toBe(1)
})
