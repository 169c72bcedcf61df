/** Explains to an operator why an encrypted connection failed, and what the encryption of a connection lacks. */

/** Matches codes of Node.js for a certificate that none of the known certificates has signed. */
const UNSIGNED_CERTIFICATE_CODE = /^(?:UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY)|SELF_SIGNED_|DEPTH_ZERO_|CERT_SIGNATURE_FAILURE$)/
/** Matches codes of Node.js and of the MariaDB driver for all other failures of TLS. */
const TLS_FAILURE_CODE = /^(?:UNABLE_TO_|CERT_|CRL_|INVALID_|PATH_LENGTH|ERR_OSSL|ERR_SSL|ERR_TLS|EPROTO$|HANDSHAKE_SSL_ERROR$)/

const CERTIFICATE_TIME_CODE = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/

/**
 * Explains a failure of encryption.
 * @param place where the address is, as a part of a sentence: `at the address in PERSONS_URL`
 * @returns null: the connection failed for another reason
 */
export function encryptionProblem(error: Error, place: string): string | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const reason = code === 'HANDSHAKE_SSL_ERROR' ? tlsCodeOfMessage(error.message) : code
  const database = `the certificate of the database ${place}`
  if (reason === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${database} is not for the host of the address (${reason})`
  if (CERTIFICATE_TIME_CODE.test(reason)) return `${database} has expired, or is not valid yet (${reason})`
  if (UNSIGNED_CERTIFICATE_CODE.test(reason)) return `${database} is not signed by those of tls.ca (${reason})`
  if (TLS_FAILURE_CODE.test(reason)) return `the TLS connection to the database ${place} failed (${reason})`
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT' || /does not support SSL/i.test(error.message)) {
    return `the database ${place} does not encrypt its connections`
  }
  return null
}

/** The code for a message of the MariaDB driver, whose own code is the same for all failures of TLS. */
const tlsCodeOfMessage = (message: string): string =>
  /altnames/.test(message)
    ? 'ERR_TLS_CERT_ALTNAME_INVALID'
    : /has expired/.test(message)
      ? 'CERT_HAS_EXPIRED'
      : /not yet valid/.test(message)
        ? 'CERT_NOT_YET_VALID'
        : /unable to (?:verify|get (?:local )?issuer)|self.signed|signature failure/.test(message)
          ? 'UNABLE_TO_VERIFY'
          : 'HANDSHAKE_SSL_ERROR'

/** Returns sentences on what the encryption of a connection lacks. @param ca null: the file names no certificates */
export function listEncryptionWeaknesses(
  { isEncrypted, isLocal }: { readonly isEncrypted: boolean; readonly isLocal: boolean },
  ca: string | null,
): string[] {
  if (isEncrypted) {
    return ca === null ? ['the certificate of the database is verified only as its address says: write tls to verify it'] : []
  }
  return isLocal ? [] : ['the connection is not encrypted: write tls with the certificate that signed its own']
}
