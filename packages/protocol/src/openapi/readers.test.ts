import { expect, test } from 'vitest'
import { KINDS } from '../kinds/index.ts'
import { openApiDocument } from '../openapi.ts'
import { CALLBACKS, OPERATIONS } from '../operations.ts'
import { omitSourceReferences } from './readers.ts'

test.each([
  ['Header of a request (spec "Header"; required members N1).', 'Header of a request.'],
  ['One comparison (G11: all three members are required).', 'One comparison (all three members are required).'],
  ['Asks for a token (RFC 6749, 4.4.2).', 'Asks for a token (RFC 6749, 4.4.2).'],
  ['A token (RFC 6749 client credentials, public standard 1.3).', 'A token (RFC 6749 client credentials).'],
  ['Acknowledgement (spec "Endpoints", responses 2; N11).', 'Acknowledgement.'],
  ['Names a person by an attribute (2.7).', 'Names a person by an attribute.'],
  ['At most so many (default: 20).', 'At most so many (default: 20).'],
])('%s', (text, shown) => expect(omitSourceReferences(text)).toBe(shown))

test.each(KINDS)('no text of the document of $name names a source that its readers do not have', (kind) => {
  const document = openApiDocument(kind, { server_url: '/', operations: OPERATIONS, callbacks: CALLBACKS })
  const texts: string[] = []
  JSON.stringify(document, (name, value) => {
    if (['summary', 'description'].includes(name) && typeof value === 'string') texts.push(value)
    return value
  })
  expect(texts.filter((text) => /\b[NDG]\d{1,2}\b|public standard|spec "/.test(text))).toEqual([])
})
