/**
 * Writes the vectors beside this file: `npx node conformance/signature/generate.ts`. Keys that are there stay; ECDSA
 * signatures are new each time, all the others come out as they were.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Vector } from './cases.ts'

const place = (name: string) => join(import.meta.dirname, `${name}.json`)
const write = (name: string, value: unknown) => writeFileSync(place(name), `${formatted(value)}\n`)

/** As the formatter of this project writes it: short lists stay on one line. */
function formatted(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /\[\n\s+([^[\]{}]*?)\n\s+\]/g,
    (_, elements: string) => `[${elements.replace(/\n\s+/g, ' ')}]`,
  )
}

/** All vectors of one file. */
export async function vectorsOf(file: string): Promise<readonly Vector[]> {
  const [{ vector }, { FILES }] = await Promise.all([import('./cases.ts'), import('./vectors.ts')])
  const vectors: Vector[] = []
  for (const [clause, cases] of Object.entries(FILES[file] ?? {})) {
    for (const [name, made] of Object.entries(cases)) vectors.push(await vector(clause, name, made))
  }
  return vectors
}

async function newKey(id: string, sender_id: string, kid: string, algorithm: string, parameters: object) {
  const pair = (await crypto.subtle.generateKey(parameters as { name: string }, true, ['sign', 'verify'])) as CryptoKeyPair
  const jwk = async (key: CryptoKeyPair['publicKey']) => {
    const { key_ops: _operations, ext: _extractable, alg: _alg, ...material } = await crypto.subtle.exportKey('jwk', key)
    return material
  }
  const named = { kid, use: 'sig', alg: algorithm }
  return {
    id,
    sender_id,
    kid,
    algorithm,
    public_jwk: { ...(await jwk(pair.publicKey)), ...named },
    private_jwk: { ...(await jwk(pair.privateKey)), ...named },
  }
}

type CryptoKeyPair = Exclude<Awaited<ReturnType<typeof crypto.subtle.generateKey>>, CryptoKeyLike>
type CryptoKeyLike = Parameters<typeof crypto.subtle.verify>[1]

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }

async function generate(): Promise<void> {
  if (!existsSync(place('keys'))) {
    write('keys', [
      await newKey('system-ed25519', 'sp-system', 'ed-1', 'EdDSA', { name: 'Ed25519' }),
      await newKey('system-es256', 'sp-system', 'es-1', 'ES256', { name: 'ECDSA', namedCurve: 'P-256' }),
      await newKey('system-rs256', 'sp-system', 'rs-1', 'RS256', RSA),
      await newKey('other-ed25519', 'other-system', 'other-1', 'EdDSA', { name: 'Ed25519' }),
    ])
  }
  const { FILES } = await import('./vectors.ts')
  for (const file of Object.keys(FILES)) write(file, await vectorsOf(file))
}

if (import.meta.main) await generate()
