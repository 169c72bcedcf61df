import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Vector, VectorKey } from '../../../conformance/signature/cases.ts'
import { ALGORITHMS, canonicalJson, LAYOUTS, PLACEHOLDERS } from '../src/index.ts'
import { CANONICAL_FORMS } from '../src/trust/signature/canonical-forms.ts'
import { DIGESTS } from '../src/trust/signature/digests.ts'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/signature.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\\n\`\`\``, 'gs'))].map(([, block]) => block ?? '')
const read = (file: string) => JSON.parse(readFileSync(join(root, 'conformance/signature', file), 'utf8'))

const vectors: readonly Vector[] = read('binding.json')
const example = vectors.find(({ name }) => name === 'as signed')
if (example === undefined) throw new Error('there is no example')
const { signature, header, message } = JSON.parse(example.body)
const keys: readonly VectorKey[] = read('keys.json')
const [key] = keys
if (key === undefined) throw new Error('there is no key')

test('the page shows the first vector, step by step', () => {
  const [, envelope = ''] = blocks('json')
  expect(JSON.parse(envelope)).toEqual({ header, message })
  const signed = example.signed_text ?? ''
  expect(blocks('text')).toEqual([
    signature,
    canonicalJson({ header, message }),
    signed.split('digest: ')[1],
    signed,
    /signature="([^"]*)"$/.exec(signature)?.[1],
  ])
  expect(page).toContain(String(key.private_jwk.d))
  expect(page).toContain(String(key.public_jwk.x))
})

test('the page names every row', () => {
  const rows = [LAYOUTS, CANONICAL_FORMS, DIGESTS].flatMap(Object.keys).filter((name) => name !== '')
  const spellings = Object.values(ALGORITHMS).flatMap((row) => row.spellings.parameters)
  const placeholders = PLACEHOLDERS.filter((text) => text !== '')
  const named = [...rows, ...spellings, ...placeholders]
  expect(named.filter((name) => !page.replaceAll('\n', ' ').includes(`\`${name}\``.replaceAll('\n', ' ')))).toEqual([])
})
