import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Exchange } from '../model/exchange.ts'
import { disclose } from './disclosure.ts'

const src = join(import.meta.dirname, '..')
const sources = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts'))
/** Without its comments. */
const text = (file: string) => readFileSync(join(src, file), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')

describe('what leaves', () => {
  it('is, for now, all of it', () => {
    const documents = ['{"a":1}', '{"b":2}']
    expect(disclose({} as Exchange, {} as never, documents)).toEqual(documents)
  })

  it('leaves through this function alone: whoever writes records into a message calls it', () => {
    const writers = sources.filter((file) => /\breg_records:/.test(text(file)))
    expect(writers.toSorted()).toEqual(['operations/search.ts', 'operations/txn-told.ts'])
    for (const file of writers) {
      const written = text(file).match(/\breg_records:.*/g) ?? []
      expect(written).toHaveLength(1)
      expect(text(file)).toMatch(/= disclose\(/)
    }
  })
})
