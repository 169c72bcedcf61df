import { Writable } from 'node:stream'
import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { createLog } from '../observe/log.ts'
import { createJobLog } from './job-log.ts'

function logged(level: string): { log: ReturnType<typeof createJobLog>; lines: () => object[] } {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const parsed = () =>
    lines.map((line) => {
      const { time: _, ...rest } = JSON.parse(line)
      return rest
    })
  return { log: createJobLog(createLog({ level, destination })), lines: parsed }
}

test('of a message its own words remain, of an error its class and codes', () => {
  const { log, lines } = logged('info')
  const error = new DatabaseError('Key (value)=(Ada) exists', 1, 'error')
  error.code = '23505'
  log.error(`Error occurred fetching jobs; will try again. Error: ${error}`, { error })
  log.warn(`Runner stopping (reason: worker pool exited with Ada)`)
  log.error(`Failed to release job '17' after failure 'Ada'`, { job: { payload: { name: 'Ada' } } })
  log.error('Worker exited with error: Ada\n  at Ada', { error: 'Ada' })
  expect(lines()).toEqual([
    {
      level: 'warn',
      database: { error: 'DatabaseError', sqlstate: '23505' },
      msg: 'jobs: Error occurred fetching jobs',
    },
    { level: 'warn', msg: 'jobs: Runner stopping' },
    { level: 'warn', msg: 'jobs: Failed to release job' },
    { level: 'warn', database: { error: 'string' }, msg: 'jobs: Worker exited with error' },
  ])
})

test('what is said of single jobs, and of the number of connections, is left out', () => {
  const { log, lines } = logged('trace')
  log.error("Failed task 1 (process) with error 'Ada'", { failure: true, job: {} })
  log.info('Completed task 1 (process) with success', { success: true, job: {} })
  log.warn('WARNING: having maxPoolSize (4) smaller than concurrency (24) may be slow', {
    max: 4,
    concurrency: 24,
  })
  log.debug('Found task 1 (process)')
  expect(lines()).toEqual([{ level: 'debug', msg: 'jobs: Found task' }])
})
