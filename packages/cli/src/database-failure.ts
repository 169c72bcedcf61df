/** Failures of our own database, most of them while connecting: for each known cause a row with advice. */

/** The facts by which a failure of the database is recognised. */
export interface DatabaseFailure {
  readonly sqlstate?: string | undefined
  /** Code of the operating system, such as ECONNREFUSED. */
  readonly code?: string | undefined
  /** The message of the driver. It is only compared, never printed. */
  readonly message: string
}

interface KnownFailure {
  /** The signs of the cause: SQLSTATEs, codes, or beginnings of messages of `pg` that have no code. */
  readonly known: readonly string[]
  /** Returns the advice on this failure. @param place such as `the database registry on db.example.org:5432` */
  readonly advice: (place: string) => string
}

/** The form of DATABASE_URL, for messages. */
export const DATABASE_URL_FORM = 'postgres://user:password@host/database'

const ENCODING_ADVICE = 'a character such as @ : / % in the password is percent-encoded, as %40 for @'

const KNOWN_FAILURES: readonly KnownFailure[] = [
  {
    known: ['3D000'],
    advice: (place) => `there is no ${place.replace(/^the /, '')}: correct the name, or create it (docs/roles.md)`,
  },
  {
    known: ['28P01'],
    advice: (place) => `${place} does not accept the user or the password: correct DATABASE_URL; ${ENCODING_ADVICE}`,
  },
  {
    known: ['28000'],
    advice: (place) =>
      `${place} does not let this user in: the role must be there and may log in (docs/roles.md), pg_hba.conf must have a line ` +
      'for this machine, and if that line wants TLS, DATABASE_URL needs ?sslmode=verify-full',
  },
  {
    known: ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password'],
    advice: (place) =>
      `${place} asks for a password, and DATABASE_URL has none: ${DATABASE_URL_FORM}, or set PGPASSWORD; ${ENCODING_ADVICE}`,
  },
  {
    known: ['42501'],
    advice: (place) =>
      `the user may not do this in ${place}: docs/roles.md has the rights of each role, and which commands need ROLLCALL_OWNER_DATABASE_URL`,
  },
  {
    known: ['53300'],
    advice: (place) =>
      `${place} has no connection left: end other programs, or raise max_connections of PostgreSQL or the connection limit of the role`,
  },
  { known: ['57P03'], advice: (place) => `${place} is starting or stopping: try again in a moment` },
  {
    known: ['ENOTFOUND', 'EAI_AGAIN'],
    advice: (place) => `the host of ${place} is not known: correct it in DATABASE_URL; ${ENCODING_ADVICE}`,
  },
  {
    known: ['ECONNREFUSED', 'ENOENT'],
    advice: (place) => `nothing listens for ${place}: start PostgreSQL, or correct the host and the port of DATABASE_URL`,
  },
  {
    known: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'timeout expired', 'timeout exceeded when trying to connect'],
    advice: (place) => `${place} cannot be reached: look at the network and the firewalls between this machine and it`,
  },
  {
    known: ['The server does not support SSL connections'],
    advice: (place) => `${place} does not offer TLS: switch ssl on in PostgreSQL, or take sslmode out of DATABASE_URL`,
  },
  {
    known: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ],
    advice: (place) =>
      `the certificate of ${place} is not trusted: name the file of its CA in DATABASE_URL, ?sslmode=verify-full&sslrootcert=/path/ca.pem`,
  },
  { known: ['CERT_HAS_EXPIRED'], advice: (place) => `the certificate of ${place} has expired: replace it` },
  {
    known: ['ERR_TLS_CERT_ALTNAME_INVALID'],
    advice: (place) => `the certificate of ${place} is for another host: use the name that it has in DATABASE_URL`,
  },
]

/** Returns advice on a failure of the database; undefined when `KNOWN_FAILURES` does not have it. */
export function databaseAdvice({ sqlstate, code, message }: DatabaseFailure, place: string): string | undefined {
  const found = KNOWN_FAILURES.find(({ known }) =>
    known.some((mark) => mark === sqlstate || mark === code || message.startsWith(mark)),
  )
  const what = sqlstate ?? code
  return found && `${found.advice(place)}${what === undefined ? '' : ` (${what})`}`
}
