import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import { expect, test } from 'vitest'
import { makeDatabaseFailureRefusal } from './database-refusal.ts'
import { SourceRefusal } from './engine/source-refusal.ts'
import { failureOf as mariadbFailure } from './mariadb/failures.ts'
import { failureOf as postgresqlFailure } from './postgresql/failures.ts'

const refusalOf = (error: Error | null, failureOf = mariadbFailure): unknown =>
  makeDatabaseFailureRefusal(new RecordsUnavailable(error), { url: { env: 'OFFICE' } }, { failureOf })

test.each([
  ['a lock that was not free', { errno: 1205, sqlState: 'HY000' }, 1205],
  ['a deadlock', { errno: 1213, sqlState: '40001' }, 1213],
])('%s is told as such, and not as a database that is away', (_, facts, code) => {
  const refusal = refusalOf(Object.assign(new Error('its own words'), facts))
  expect(refusal).toBeInstanceOf(SourceRefusal)
  expect(refusal).toMatchObject({
    message: `the database declined a statement, because of a lock, a deadlock or a limit of its own (${code}); it may succeed later`,
  })
})

test.each([
  ['CERT_HAS_EXPIRED', postgresqlFailure, { code: 'CERT_HAS_EXPIRED' }],
  ['CERT_NOT_YET_VALID', postgresqlFailure, { code: 'CERT_NOT_YET_VALID' }],
  // The driver of MariaDB has one code for all failures of TLS.
  ['CERT_HAS_EXPIRED', mariadbFailure, { code: 'HANDSHAKE_SSL_ERROR', message: 'certificate has expired' }],
  ['CERT_NOT_YET_VALID', mariadbFailure, { code: 'HANDSHAKE_SSL_ERROR', message: 'certificate is not yet valid' }],
])('a certificate whose time is over or has not come is told as such: %s', (reason, failureOf, facts) => {
  expect(refusalOf(Object.assign(new Error(''), facts), failureOf)).toMatchObject({
    message: `the certificate of the database at the address in OFFICE has expired, or is not valid yet (${reason})`,
  })
})

test.each([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', postgresqlFailure, { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', postgresqlFailure, { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }],
  ['SELF_SIGNED_CERT_IN_CHAIN', postgresqlFailure, { code: 'SELF_SIGNED_CERT_IN_CHAIN' }],
  ['UNABLE_TO_VERIFY', mariadbFailure, { code: 'HANDSHAKE_SSL_ERROR', message: 'unable to verify the first certificate' }],
  ['UNABLE_TO_VERIFY', mariadbFailure, { code: 'HANDSHAKE_SSL_ERROR', message: 'unable to get local issuer certificate' }],
  ['UNABLE_TO_VERIFY', mariadbFailure, { code: 'HANDSHAKE_SSL_ERROR', message: 'self-signed certificate' }],
])('a certificate that nobody known has signed is told as such: %s', (reason, failureOf, facts) => {
  expect(refusalOf(Object.assign(new Error(''), facts), failureOf)).toMatchObject({
    message: `the certificate of the database at the address in OFFICE is not signed by those of tls.ca (${reason})`,
  })
})

const ALERT = 'C0:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:SSL alert number 40'

test.each([
  ['CERT_REVOKED', postgresqlFailure, { code: 'CERT_REVOKED' }],
  ['INVALID_PURPOSE', postgresqlFailure, { code: 'INVALID_PURPOSE' }],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', postgresqlFailure, { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' }],
  ['EPROTO', postgresqlFailure, { code: 'EPROTO' }],
  ['HANDSHAKE_SSL_ERROR', mariadbFailure, { code: 'HANDSHAKE_SSL_ERROR', message: ALERT }],
])('another failure of TLS is not told as an unsigned certificate: %s', (reason, failureOf, facts) => {
  const refusal = refusalOf(Object.assign(new Error(''), facts), failureOf)
  expect(refusal).toBeInstanceOf(SourceRefusal)
  expect(refusal).toMatchObject({ message: `the TLS connection to the database at the address in OFFICE failed (${reason})` })
})

test('a source that is not asked for a while, because it was away, is told as such', () => {
  expect(refusalOf(null)).toBeInstanceOf(SourceRefusal)
  expect(refusalOf(null)).toMatchObject({
    message: 'the database at the address in OFFICE did not answer a moment ago, and is not asked again for some seconds',
  })
})
