import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { envelopeOf, type itemOf, type Uploading, uploading } from '../../../uploading.ts'

let uploads: Uploading
beforeAll(async () => {
  uploads = await uploading()
})
afterAll(() => uploads.server.close())

describe('any items', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ',', '"', '\n', '\r\n', ';', '𝒳', '1'), maxLength: 12 })
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

  it('come through csv as they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 20 }), async (rows) => {
        const lines = rows.map((row) => row.map(quoted).join(','))
        const file = ['reference_id,identifier_type,identifier_value', ...lines].join('\n')
        const { message } = await uploads.persisted(await uploads.upload({ envelope: envelopeOf(file), file }))
        const read = message.search_request.map((item: ReturnType<typeof itemOf>) => {
          const { type, value } = item.search_criteria.query
          return [item.reference_id, type, value]
        })
        let line = 2
        const expected = rows.map((row) => {
          const [reference_id, type, value] = row
          const named = reference_id === '' ? String(line) : reference_id
          line += 1 + row.join('').split('\n').length - 1
          return [named, type, value]
        })
        expect(read).toEqual(expected)
      }),
      { numRuns: 25 },
    )
  })

  it('come through ndjson as they are', async () => {
    const item = fc.record({
      reference_id: cell,
      search_criteria: fc.record({ query_type: cell, query: fc.dictionary(fc.constantFrom('a', 'b', 'é'), cell) }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 20 }), async (items) => {
        const all = items.map((one) => ({ ...one, timestamp: '2026-02-03T09:15:00.000Z' }))
        const file = all.map((one) => JSON.stringify(one)).join('\r\n')
        const { message } = await uploads.persisted(
          await uploads.upload({ fileFormat: 'ndjson', envelope: envelopeOf(file), file }),
        )
        expect(message.search_request).toEqual(all)
      }),
      { numRuns: 25 },
    )
  })
})

it('a csv row may say its reg_type', async () => {
  const file = 'identifier_type,identifier_value,reg_type\nUIN,1, ns:org:RegistryType:Civil \nUIN,2,'
  const { message } = await uploads.persisted(await uploads.upload({ envelope: envelopeOf(file), file }))
  const criteria = message.search_request.map((item: ReturnType<typeof itemOf>) => item.search_criteria)
  expect(criteria).toEqual([
    { query_type: 'idtype-value', query: { type: 'UIN', value: '1' }, reg_type: 'ns:org:RegistryType:Civil' },
    { query_type: 'idtype-value', query: { type: 'UIN', value: '2' } },
  ])
})
