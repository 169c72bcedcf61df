/** The examples of docs/uploads.md and docs/inbox.md, sent as they stand there. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listInbox } from '@rollcall/engine/store/exchanges/inbox-list'
import { CALLBACKS } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { civilServer } from './civil.ts'
import { answerOf, bearer, post } from './server.ts'

const page = (name: string): string => readFileSync(join(import.meta.dirname, '../../../docs', `${name}.md`), 'utf8')

/** The code blocks of this language. */
const blocks = (name: string, language: string): readonly string[] =>
  [...page(name).matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text ?? '')

const { server, peer } = await civilServer()

describe('docs/uploads.md', () => {
  const [csv = ''] = blocks('uploads', 'csv')
  const [envelopeText = '{}', items = ''] = blocks('uploads', 'json')
  const digest = (file: string): string => createHash('sha256').update(file).digest('hex')

  async function upload(fileFormat: string, envelope: object, file: string) {
    const form = new FormData()
    form.set('action', 'search')
    form.set('fileFormat', fileFormat)
    form.set('envelope', JSON.stringify(envelope))
    form.set('fileName', new Blob([file]), 'people')
    const url = `${server.url}/civil/v1.0.0/registry/search`
    return answerOf(await fetch(url, { method: 'POST', body: form, headers: bearer(peer) }))
  }

  it('has a file of identifiers whose digest its envelope names', async () => {
    const { signature, ...envelope } = JSON.parse(envelopeText)
    expect(signature).toBe('...')
    expect(envelope.message.file_sha256).toBe(digest(csv))
    const answer = await upload('csv', envelope, csv)
    expect(answer.body).toMatchObject({ message: { ack_status: 'ACK' } })
  })

  it('has a file of items', async () => {
    const file = blocks('uploads', 'json').find((text) => text.trimEnd().includes('\n{')) ?? items
    expect(file.trimEnd().split('\n')).toHaveLength(2)
    const { header } = JSON.parse(envelopeText)
    const message = { transaction_id: 'tx-902', file_sha256: digest(file) }
    const answer = await upload('ndjson', { header: { ...header, message_id: 'm-902' }, message }, file)
    expect(answer.body).toMatchObject({ message: { ack_status: 'ACK' } })
  })

  it.each(['fileName[line 3]: has 3 cells, and the header line has 2', 'fileName[line 7].timestamp: is required'])(
    'quotes %s as it is said',
    async (text) => {
      expect(page('uploads')).toContain(text)
      const { header } = JSON.parse(envelopeText)
      const line = Number(/line (\d+)/.exec(text)?.[1])
      const [fileFormat, file] = text.includes('cells')
        ? ['csv', 'identifier_type,identifier_value\nUIN,1\nUIN,2,3']
        : ['ndjson', `${'\n'.repeat(line - 1)}{}`]
      const message = { transaction_id: 'tx-903', file_sha256: digest(file) }
      const { body } = await upload(fileFormat, { header: { ...header, total_count: 0 }, message }, file)
      expect(body.message.error.message).toBe(text)
    },
  )
})

describe('docs/inbox.md', () => {
  it('lists the callbacks of the table, and what becomes of each', () => {
    const rows = [...page('inbox').matchAll(/^\| `(.+?)` \| `(.+?)` \| (\w+) \| (\w+) \|$/gm)]
    expect(rows.map(([, path, action, message]) => [path, action, message])).toEqual(
      CALLBACKS.map(({ path, action, message }) => [path, action, message.name]),
    )
    expect(rows.map(([, , , , state]) => state)).toEqual(
      CALLBACKS.map(({ name }) => (name === 'notify' ? 'stored' : 'quarantined')),
    )
  })

  it('has a notification that is taken', async () => {
    const sender = await server.participant('crvs.example')
    const [curl = ''] = blocks('inbox', 'sh')
    const body = /<<'END'\n(.*)\nEND\n/s.exec(curl)?.[1] ?? ''
    const answer = await post(`${server.url}/civil/v1.0.0/registry/notify`, body, bearer(sender))
    expect(answer.body).toMatchObject({ message: { ack_status: 'ACK' } })
    expect(await listInbox(server.database.db, { limit: 10 })).toMatchObject([
      { message_id: 'n-17', participant: 'crvs.example', transaction_id: 'tx-17', state: 'stored' },
    ])
  })
})
