/** A node that is killed while it answers enrolment updates: what it has answered is there, and the rest may be sent again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { addParticipant } from '@rollcall/participants/store/participants'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { beneficiariesOf, MESSAGES, PEOPLE } from '../../test/enrolment-batches.ts'

let database: TestDatabase
let registry: Awaited<ReturnType<typeof addRegistry>>
beforeAll(async () => {
  database = await testDatabase()
  registry = await addRegistry(database.db, { namespace: 'ibr', kind: 'ibr', sender_id: 'ibr.example' })
  await addParticipant(database.db, { sender_id: 'sp.example', name: 'sp' })
})
afterAll(() => database.close())

/** @param kill whether it is killed, by how many messages it has answered */
async function answered(kill: (answered: number) => boolean): Promise<readonly number[]> {
  const env = { PATH: process.env.PATH, CONNECTION: JSON.stringify(database.connection) }
  const child = spawn(process.execPath, [inject('programs').enrolling], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (kill(printed.split('\n').length - 1)) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return printed.split('\n').filter(Boolean).map(Number)
}

const enrolments = async () => {
  const { rows } = await database.db.pool.query<{ uin: string; programmes: number }>(
    `select primary_identifier as uin, jsonb_array_length(enrolment) as programmes
     from r${registry.id}_beneficiary`,
  )
  return new Map(rows.map(({ uin, programmes }) => [uin, programmes]))
}

it('kill -9 in the middle: all that was answered is there, and repeated messages end as if nothing had happened', async () => {
  const before = await answered((count) => count === 2)
  expect(before.slice(0, 2)).toEqual([0, 1])
  expect(before.length).toBeLessThan(MESSAGES)
  const there = await enrolments()
  for (const number of before) {
    for (const { member } of beneficiariesOf(number)) {
      expect(there.get(member.member_identifier)).toBeGreaterThan(number % 2)
    }
  }
  // Records and their events are committed together.
  const { rows } = await database.db.pool.query(
    `select count(*) as events, (select sum(jsonb_array_length(enrolment)) from r${registry.id}_beneficiary)::bigint
       as enrolments, (select count(*) from enrolment_ledger) as ledgers from event`,
  )
  expect(rows[0]).toMatchObject({ events: rows[0].enrolments, ledgers: there.size })

  expect(await answered(() => false)).toHaveLength(MESSAGES)
  const after = await enrolments()
  expect(after.size).toBe((MESSAGES / 2) * PEOPLE)
  expect(new Set(after.values())).toEqual(new Set([2]))
  // One for each person, and one for the second programme.
  const { rows: events } = await database.db.pool.query(`select event_type, count(*) from event group by event_type`)
  expect(events).toEqual([{ event_type: 'enrollement', count: MESSAGES * PEOPLE }])
  const { rowCount } = await database.db.pool.query('select from enrolment_receipt')
  expect(rowCount).toBe(MESSAGES)
})
