import { randomUUID } from 'node:crypto'
import { ignoreConnectionLosses } from '@rollcall/database/database'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { type Query, RECEIVED_MESSAGES_TABLE, rememberInSql } from './received-in-sql.ts'

let database: Awaited<ReturnType<typeof emptyDatabase>>
let pool: pg.Pool
const query: Query = (text, values) => pool.query(text, [...values])

beforeAll(async () => {
  database = await emptyDatabase()
  pool = ignoreConnectionLosses(new pg.Pool(database.connection))
  await pool.query(RECEIVED_MESSAGES_TABLE)
  await pool.query(RECEIVED_MESSAGES_TABLE)
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

const key = (message_id: string) => ({ sender_id: 'a.example', message_id })

it('a message is claimed once, by one of two processes, and remembered by both', async () => {
  const [one, other] = [rememberInSql(query), rememberInSql(query)]
  const claims = await Promise.all([one.claim(key('1')), other.claim(key('1'))])
  expect(claims.toSorted()).toEqual(['busy', 'claimed'])
  const [winner, loser] = claims[0] === 'claimed' ? [one, other] : [other, one]
  await loser.done(key('1'))
  expect(await loser.claim(key('1'))).toBe('busy')
  await winner.done(key('1'))
  expect(await Promise.all([one, other].map((memory) => memory.claim(key('1'))))).toEqual(['done', 'done'])
})

it('a message with a message_id that no index takes is remembered', async () => {
  const memory = rememberInSql(query)
  const long = Array.from({ length: 300 }, () => randomUUID()).join('')
  expect(await memory.claim(key(long))).toBe('claimed')
  expect(await memory.claim(key(`${long}-other`))).toBe('claimed')
  expect(await memory.claim(key(long))).toBe('busy')
  await memory.done(key(long))
  expect(await memory.claim(key(long))).toBe('done')
})

it('a message that was released is new', async () => {
  const memory = rememberInSql(query)
  await memory.claim(key('2'))
  await memory.release(key('2'))
  expect(await memory.claim(key('2'))).toBe('claimed')
})

it('the claim of a process that died is taken over, and what it says afterwards does not count', async () => {
  const dead = rememberInSql(query)
  const heir = rememberInSql(query, { claim_seconds: 0 })
  await dead.claim(key('3'))
  expect(await rememberInSql(query).claim(key('3'))).toBe('busy')
  expect(await heir.claim(key('3'))).toBe('claimed')
  await dead.release(key('3'))
  await heir.done(key('3'))
  expect(await dead.claim(key('3'))).toBe('done')
})

it('what is old is forgotten when it is told to, and a message not before a notification has been given up', async () => {
  const memory = rememberInSql(query)
  await memory.claim(key('4'))
  await memory.done(key('4'))
  await query(`update rollcall_received_message set claimed_at = now() - interval '14 days' where message_id = '4'`, [])
  await memory.forget()
  expect(await memory.claim(key('4'))).toBe('done')
  await memory.forget({ age_seconds: 0 })
  expect(await memory.claim(key('4'))).toBe('claimed')
})
