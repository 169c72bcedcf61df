/** Checks whether nginx can serve a certificate under the public name, and for how long. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'

/** The fewest days that a certificate should have left: with fewer, it should have been renewed already. */
export const FEWEST_CERTIFICATE_DAYS = 14
const MILLISECONDS_OF_DAY = 86_400_000
const CERTIFICATE_PEM_PATTERN = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

export const certificatesIn = (pem: string): readonly X509Certificate[] =>
  (pem.match(CERTIFICATE_PEM_PATTERN) ?? []).map((one) => new X509Certificate(one))

/** Whole days until the end of a certificate; negative after it. */
export const daysLeft = (validTo: string, now: number): number => Math.floor((Date.parse(validTo) - now) / MILLISECONDS_OF_DAY)

export interface CertificateFacts {
  /** The certificate and its intermediate certificates, in PEM. */
  readonly chain: string
  readonly key: string
  readonly name: string
  /** Trusted authorities in addition to those of Node, in PEM. */
  readonly authorities: string
  /** The time in milliseconds since 1970. */
  readonly now: number
}

/** Names the first fault of a certificate, such as an end within 14 days, without quoting a key; null: none. */
export function certificateProblem({ chain, key, name, authorities, now }: CertificateFacts): string | null {
  let certificates: readonly X509Certificate[]
  try {
    certificates = certificatesIn(chain)
  } catch {
    return 'its file has a certificate that cannot be read'
  }
  const [leaf, ...others] = certificates
  if (leaf === undefined) return 'its file has no certificate in PEM'
  try {
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'the key does not belong to it'
  } catch {
    return 'the file of its key has no key in PEM without a password'
  }
  if (leaf.checkHost(name, { subject: 'never' }) === undefined) return `it is not for the name ${name}`
  const notYetValid = certificates.find(({ validFrom }) => Date.parse(validFrom) > now)
  if (notYetValid !== undefined)
    return `a part of it is valid only from ${notYetValid.validFrom} on: look at the clock of this machine`
  const days = Math.min(...certificates.map(({ validTo }) => daysLeft(validTo, now)))
  if (days < FEWEST_CERTIFICATE_DAYS) return `it ends in ${days} days: renew it`
  return chainProblem(leaf, others, [...rootCertificates, ...(authorities.match(CERTIFICATE_PEM_PATTERN) ?? [])])
}

const hasIssued = (by: X509Certificate, one: X509Certificate): boolean => one.checkIssued(by) && one.verify(by.publicKey)

function chainProblem(leaf: X509Certificate, others: readonly X509Certificate[], roots: readonly string[]) {
  let last = leaf
  for (const next of others) {
    if (!hasIssued(next, last)) return 'in its file each certificate must be followed by the one that signed it'
    last = next
  }
  const isTrusted = roots.some((pem) => {
    const root = new X509Certificate(pem)
    return root.fingerprint256 === last.fingerprint256 || hasIssued(root, last)
  })
  if (isTrusted) return null
  return `this machine does not trust ${last.issuer.replaceAll('\n', ', ')}, which signed it: if that is your own authority, give the file of its certificate as authority_file; else add the certificates between to its file`
}
