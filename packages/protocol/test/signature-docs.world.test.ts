import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import type { Vector, VectorKey } from '../../../conformance/signature/cases.ts'
import {
  ALGORITHMS,
  canonicalJson,
  importVerifyingKey,
  LAYOUTS,
  PLACEHOLDERS,
  readSignature,
  SourcedEnvelope,
  verifySignature,
} from '../src/index.ts'
import { CANONICAL_FORMS } from '../src/trust/signature/canonical-forms.ts'
import { DIGESTS } from '../src/trust/signature/digests.ts'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/signature.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\\n\`\`\``, 'gs'))].map(([, block]) => block ?? '')
const read = (file: string) => JSON.parse(readFileSync(join(root, 'conformance/signature', file), 'utf8'))

const vectors: readonly Vector[] = ['binding', 'canonical-forms', 'freshness'].flatMap((file) => read(`${file}.json`))
const ofSpec = vectors.filter(({ profile }) => profile.layout === 'parameters' && profile.canonical_form === 'rfc8785')
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

describe('the client in JavaScript', async () => {
  const [code = ''] = blocks('js')
  const stranger = await import(
    /* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
  )
  const publicKeys = (sender_id: string) =>
    keys.filter((key) => key.sender_id === sender_id).map((key) => key.public_jwk)
  const takes = (vector: Vector) => {
    const body = JSON.parse(vector.body)
    const { sender_id } = body.header
    stranger.verify(body, sender_id, publicKeys(sender_id), vector.now)
  }

  it('writes what the page shows', () => {
    expect(stranger.sign({ header, message }, key.private_jwk, 1767225600, 1767225900)).toBe(signature)
  })

  it.each(ofSpec.filter(({ expected }) => expected === 'valid'))('takes $clause: $name', (vector) => {
    expect(() => takes(vector)).not.toThrow()
  })

  // JSON.parse takes duplicates and rounds; what comes of strict grammar is not for a page.
  const refused = ofSpec.filter(({ expected, reason }) => expected === 'invalid' && reason?.includes('belong'))
  it.each(refused)('refuses $clause: $name', (vector) => {
    expect(() => takes(vector)).toThrow('does not verify')
  })
})

const available = (command: string, ...options: string[]) => spawnSync(command, options).status === 0

describe.runIf(available('python3', '--version') && available('openssl', 'version'))(
  'the client in Python and OpenSSL',
  () => {
    const [code = ''] = blocks('python')
    const run = (message: unknown) => {
      const input = { header, message, jwk: key.private_jwk, created: 1767225600, expires: 1767225900 }
      const { stdout, stderr } = spawnSync('python3', ['-c', code], { input: JSON.stringify(input), encoding: 'utf8' })
      return stdout.trim() || stderr
    }

    it('writes what the page shows', () => {
      expect(run(message)).toBe(signature)
    })

    it('signs letters beyond ASCII so that we verify them', async () => {
      const foreign = { name: 'Zoë Μαρία 王 \u{1f600}', note: 'a"\\\n\u007f' }
      const envelope = new SourcedEnvelope(JSON.stringify({ signature: run(foreign), header, message: foreign }))
      const read = readSignature(envelope.member('signature'), { profile: example.profile, namespaces: ['registry'] })
      const publicKey = await importVerifyingKey(key.public_jwk, 'EdDSA')
      await expect(verifySignature(read, envelope, publicKey)).resolves.toBeUndefined()
    })
  },
)
