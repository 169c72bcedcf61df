import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { scramVerifier } from './scram.ts'

// The example of RFC 7677, section 3.
const SALT = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
const NONCE = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0'
const MESSAGE = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=${NONCE}`
const PROOF = Buffer.from('dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=', 'base64')
const SIGNATURE = '6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4='

test('a verifier accepts the proof of the RFC, makes its signature, and does not have the password', () => {
  const verifier = scramVerifier('pencil', SALT)
  const [, stored = '', server = ''] = /^SCRAM-SHA-256\$4096:W22ZaJ0SNY7soEsUEjb6gQ==\$([^:]+):(.+)$/.exec(verifier) ?? []
  const signed = (key: string): Buffer => createHmac('sha256', Buffer.from(key, 'base64')).update(MESSAGE).digest()
  const client_key = signed(stored).map((byte, at) => byte ^ (PROOF[at] ?? 0))
  expect(createHash('sha256').update(client_key).digest('base64')).toBe(stored)
  expect(signed(server).toString('base64')).toBe(SIGNATURE)
  expect(verifier).not.toContain('pencil')
  expect(scramVerifier('pencil')).not.toBe(scramVerifier('pencil'))
})
