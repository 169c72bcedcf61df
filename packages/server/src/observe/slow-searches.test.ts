import { type Attribute, KINDS, type RecordType } from '@rollcall/protocol'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Predicate } from '../model/predicate.ts'
import type { SlowSearches } from '../store/records/index-plan.ts'
import { createSlowSearchNotes } from './slow-searches.ts'

const person = KINDS[0]?.record_types[0] as RecordType
const registry = { id: 7 }

const equals = (name: string): Predicate => {
  const attribute: Attribute = { name, paths: [name], type: 'text' }
  return { is: 'compare', attribute, operator: 'eq', value: 'a secret value' }
}

const saved: (readonly SlowSearches[])[] = []
const save = async (rows: readonly SlowSearches[]): Promise<void> => void saved.push(rows)
const unexpected = (error: unknown): void => {
  throw error
}

beforeEach(() => {
  saved.length = 0
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

test('searches by the same attributes are one row, without any value; quick ones are none', async () => {
  const notes = createSlowSearchNotes({ slow: 250, save, onFailure: unexpected })
  notes.note(registry, person, equals('surname'), 249.9)
  notes.note(registry, person, { is: 'and', of: [equals('surname'), equals('sex')] }, 300)
  notes.note(registry, person, { is: 'or', of: [equals('sex'), equals('surname')] }, 500)
  notes.note(registry, person, equals('surname'), 250)
  await notes.stop()
  const row = { registry: 7, record_type: person.name }
  expect(saved).toEqual([
    [
      { ...row, attributes: ['sex', 'surname'], searches: 2, total_ms: 800, max_ms: 500 },
      { ...row, attributes: ['surname'], searches: 1, total_ms: 250, max_ms: 250 },
    ],
  ])
  expect(JSON.stringify(saved)).not.toContain('secret')
})

test('they are saved every few seconds, and nothing is when there is nothing', async () => {
  const notes = createSlowSearchNotes({ slow: 1, save, onFailure: unexpected })
  notes.note(registry, person, equals('surname'), 20)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(saved).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(saved).toHaveLength(1)
  await notes.stop()
  expect(saved).toHaveLength(1)
})

test('what could not be saved is saved later, together with what came meanwhile', async () => {
  const failures: unknown[] = []
  let away = true
  const notes = createSlowSearchNotes({
    slow: 1,
    save: (rows) => (away ? Promise.reject(new Error('away')) : save(rows)),
    onFailure: (error) => failures.push(error),
  })
  notes.note(registry, person, equals('surname'), 20)
  await notes.flush()
  expect(failures).toEqual([new Error('away')])
  notes.note(registry, person, equals('surname'), 30)
  away = false
  await notes.stop()
  expect(saved[0]).toEqual([
    { registry: 7, record_type: person.name, attributes: ['surname'], searches: 2, total_ms: 50, max_ms: 30 },
  ])
})

test('memory is bounded, whatever attributes a peer combines', async () => {
  const notes = createSlowSearchNotes({ slow: 1, save, onFailure: unexpected })
  for (let number = 0; number < 5_000; number += 1) {
    notes.note(registry, person, equals(`attribute_${number}`), 20)
  }
  const wide: Predicate = { is: 'and', of: Array.from({ length: 200 }, (_, at) => equals(`a_${at}`)) }
  await notes.flush()
  notes.note(registry, person, wide, 20)
  await notes.stop()
  expect(saved[0]).toHaveLength(1_000)
  expect(saved[1]?.[0]?.attributes).toHaveLength(16)
})
