/** Reads keys from files: our own private keys, and public keys of peers. */
import { createPrivateKey } from 'node:crypto'
import type { JwkSet } from '@rollcall/client'
import { isJsonObject, isPrivateJwk, JsonError, type Jwk, parseJson } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { readFileOrStdin } from '../input.ts'

/**
 * Reads a private key in PEM or as a JWK, and gives it a kid.
 * @param kid the kid of the command line; undefined: the kid of the JWK is used. A PEM file has no kid, so it needs this one
 * @throws CommandError, which quotes no value of the file
 */
export async function readPrivateKey(path: string, kid: string | undefined): Promise<Jwk> {
  const text = (await readFileOrStdin(path)).trim()
  const jwk = text.startsWith('-----BEGIN ') ? privateJwkFromPem(path, text) : parseKeyFile(path, text)
  if (isJwk(jwk) && jwk.kty !== 'oct' && !isPrivateJwk(jwk)) throw notPrivateKeyError(path)
  if (!isJwk(jwk) || !isPrivateJwk(jwk)) {
    throw new CommandError(`${path} must hold a private key, in PEM or as a JWK`)
  }
  const name = kid ?? jwk.kid
  if (typeof name !== 'string' || name === '') {
    throw new CommandError(
      `the key in ${path} has no kid; give the kid by which the registry knows it, with --sign-kid or --decrypt-kid`,
    )
  }
  return { ...jwk, kid: name }
}

/** Reads public keys: a JWK set or one JWK. @throws CommandError */
export async function readPublicKeys(path: string): Promise<JwkSet> {
  const value = parseKeyFile(path, await readFileOrStdin(path))
  const keys: readonly unknown[] = isJsonObject(value) && Array.isArray(value.keys) ? value.keys : [value]
  const isPublic = (key: unknown): key is Jwk => isJwk(key) && key.kty !== 'oct' && !isPrivateJwk(key)
  if (keys.length > 0 && keys.every(isPublic)) return { keys }
  throw new CommandError(`${path} must hold public keys: a JWK set, or one JWK`)
}

const isJwk = (value: unknown): value is Jwk => isJsonObject(value) && typeof value.kty === 'string'

const notPrivateKeyError = (path: string): CommandError =>
  new CommandError(`${path} holds a public key: give the file with the private key that belongs to it`)

function privateJwkFromPem(path: string, text: string): unknown {
  // These headings begin the files in which `openssl` writes a public key.
  if (/^-----BEGIN (RSA )?PUBLIC KEY-----/.test(text)) throw notPrivateKeyError(path)
  try {
    return createPrivateKey(text).export({ format: 'jwk' })
  } catch {
    throw new CommandError(
      `the private key in ${path} cannot be read; remove its passphrase, if it has one: openssl pkey -in FILE -out NEW-FILE`,
    )
  }
}

function parseKeyFile(path: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new CommandError(`the key file ${path} is neither PEM nor JSON: ${error.message}`)
  }
}
