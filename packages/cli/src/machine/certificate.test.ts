import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { loopbackKey } from '../../../admin/test/loopback-certificate.ts'
import { authority, between, leaf, leafKey } from '../../test/certificate-chain.ts'
import { type CertificateFacts, certificateProblem } from './certificate.ts'

const { validFrom, validTo } = new X509Certificate(leaf)
const [BEGIN, END, DAY] = [Date.parse(validFrom), Date.parse(validTo), 86_400_000]
const good: CertificateFacts = {
  chain: leaf + between,
  key: leafKey,
  name: 'registry.example.org',
  authorities: authority,
  now: BEGIN + DAY,
}

test('a certificate with those between it and a trusted authority can be served', () => {
  expect(certificateProblem(good)).toBe(null)
  // The authority itself may stand in the file.
  expect(certificateProblem({ ...good, chain: leaf + between + authority })).toBe(null)
  expect(certificateProblem({ ...good, now: END - 14 * DAY })).toBe(null)
})

const NOT_TRUSTED = (signer: string): string =>
  `this machine does not trust ${signer}, which signed it: if that is your own authority, give the file of its certificate as authority_file; else add the certificates between to its file`
test.each<readonly [Partial<CertificateFacts>, string]>([
  [{ chain: '' }, 'its file has no certificate in PEM'],
  [{ chain: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }, 'its file has a certificate that cannot be read'],
  [{ key: loopbackKey }, 'the key does not belong to it'],
  [{ key: 'none' }, 'the file of its key has no key in PEM without a password'],
  [{ name: 'other.example.org' }, 'it is not for the name other.example.org'],
  [{ now: BEGIN - DAY }, `a part of it is valid only from ${validFrom} on: look at the clock of this machine`],
  [{ now: END - 13 * DAY }, 'it ends in 13 days: renew it'],
  [{ chain: leaf }, NOT_TRUSTED('CN=Between')],
  [{ chain: leaf + authority }, 'in its file each certificate must be followed by the one that signed it'],
  [{ authorities: '' }, NOT_TRUSTED('CN=Authority')],
])('%#: it is refused, and no key is quoted', (facts, message) => {
  expect(certificateProblem({ ...good, ...facts })).toBe(message)
})
