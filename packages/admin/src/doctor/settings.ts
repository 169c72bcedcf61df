/** Checks of the environment and of files, without a database. */

import { isLoopback } from '@rollcall/base/shared/loopback'
import { LIMITS, type LimitName } from '@rollcall/core/limits'
import { brokenResult, type Check, okResult, type SettingFacts, weakResult } from './finding.ts'

export const SETTING_CHECKS: readonly Check<SettingFacts>[] = [
  {
    check: 'listener',
    judge({ config: { host, publicUrl, behindTlsProxy } }) {
      if (isLoopback(host)) return okResult(`HOST ${host} is reached by this machine only`)
      if (!behindTlsProxy) {
        return brokenResult(
          `HOST ${host} would be reached in plain HTTP, and serve refuses it: put a proxy that terminates TLS in front of it and set ROLLCALL_BEHIND_TLS_PROXY=1`,
        )
      }
      if (publicUrl?.startsWith('https:')) return okResult(`HOST ${host}; peers come through ${publicUrl}`)
      return weakResult(`HOST ${host} is behind a TLS proxy, and ROLLCALL_PUBLIC_URL does not say its https address`)
    },
  },
  {
    check: 'operator_listener',
    judge({ config: { adminHost, behindTlsProxy, adminPrivateNetwork } }) {
      if (isLoopback(adminHost)) return okResult(`ADMIN_HOST ${adminHost} is reached by this machine only`)
      if (!behindTlsProxy && !adminPrivateNetwork) {
        return brokenResult(
          `ADMIN_HOST ${adminHost} would be reached in plain HTTP, and serve refuses it: set it to 127.0.0.1, or set ROLLCALL_ADMIN_PRIVATE_NETWORK=1 if only your own machines can reach it`,
        )
      }
      return weakResult(`ADMIN_HOST ${adminHost}: metrics need no login there; leave it on 127.0.0.1 or keep others out`)
    },
  },
  {
    check: 'token_query',
    judge({ config: { tokenQueryParameters } }) {
      if (!tokenQueryParameters) return okResult('client secrets are not accepted from query strings')
      return weakResult('ROLLCALL_TOKEN_QUERY=1: client secrets in query strings end up in logs of proxies; unset it')
    },
  },
  {
    check: 'limits',
    judge({ config: { limits } }) {
      const raised = (Object.keys(LIMITS) as LimitName[])
        .filter((name) => isWeakerLimit(limits[name], LIMITS[name]))
        .map((name) => `${LIMITS[name].variable}=${limits[name]} (default ${LIMITS[name].default})`)
      if (raised.length === 0) return okResult('no limit is above its default')
      return weakResult(
        `${raised.join(', ')}: larger messages and longer waits cost memory; lower them where they are not needed`,
      )
    },
  },
  {
    check: 'database_tls',
    judge({ config: { databaseUrl } }) {
      return databaseUrl === undefined ? null : judgeDatabaseUrl(databaseUrl)
    },
  },
  {
    check: 'accounts_witness',
    judge({ config: { witness, databaseUrl } }) {
      if (witness !== null) return okResult('checkpoints of the audit log also go to a witness')
      if (databaseUrl === undefined) return null
      return weakResult(
        'checkpoints of the audit log are in the database only: nobody would find that it was rolled back; set ROLLCALL_WITNESS (docs/audit-log.md)',
      )
    },
  },
  {
    check: 'data_directory_mode',
    judge({ files: { data_directory: mode } }) {
      if (mode === null) return null
      if ((mode & 0o022) === 0) return okResult(`mode ${octalText(mode)}: only its owner writes there`)
      return weakResult(`mode ${octalText(mode)}: others may put files there; chmod go-w`)
    },
  },
  { check: 'password_file_mode', judge: ({ files: { password } }) => judgeSecretFile(password) },
  { check: 'demo_file_mode', judge: ({ files: { demo_file } }) => judgeSecretFile(demo_file) },
  {
    check: 'master_key',
    judge({ config: { masterKey, databaseUrl }, files: { master_key: mode } }) {
      if (masterKey !== undefined) return okResult('it comes from ROLLCALL_MASTER_KEY')
      if (databaseUrl !== undefined) {
        return brokenResult('with DATABASE_URL it comes from ROLLCALL_MASTER_KEY alone, and that is not set: set it')
      }
      if (mode === null || (mode & 0o077) !== 0) return judgeSecretFile(mode)
      return weakResult(
        'it is in a file beside the database that it protects, and a person with a copy of both can decrypt everything: enough for a demo; in production store it elsewhere and set ROLLCALL_MASTER_KEY',
      )
    },
  },
]

/** True when a limit is above its default. A default of 0 means no limit: no value is weaker. */
function isWeakerLimit(value: number, row: { readonly default: number }): boolean {
  return row.default > 0 && value > row.default
}

function judgeSecretFile(mode: number | null) {
  if (mode === null) return null
  if ((mode & 0o077) === 0) return okResult(`mode ${octalText(mode)}: only its owner reads it`)
  return brokenResult(`mode ${octalText(mode)}: others may read a secret; chmod 600, and replace the secret`)
}

const octalText = (mode: number): string => mode.toString(8).padStart(4, '0')

/** Values of sslmode with which the driver `pg` checks the certificate of the server. */
const CHECKED_SSL_MODES = ['verify-full', 'verify-ca', 'require', 'prefer']

function judgeDatabaseUrl(databaseUrl: string) {
  // URL.parse refuses an address that has a login and no host, as for a unix socket. So `localhost` is put in as the host.
  const url = URL.parse(databaseUrl.replace('@/', '@localhost/'))
  if (url === null) return brokenResult('DATABASE_URL must be an address such as postgres://user:password@host/database')
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  if (host === '' || host.startsWith('/') || isLoopback(host.replace(/^\[|\]$/g, ''))) {
    return okResult('the database is on this machine')
  }
  const mode = url.searchParams.get('sslmode') ?? ''
  const known = CHECKED_SSL_MODES.includes(mode) || ['1', 'true'].includes(url.searchParams.get('ssl') ?? '')
  if (known) return okResult('the connection to the database is encrypted, its certificate checked')
  return weakResult(
    'records travel to the database unencrypted or to an unchecked server; put sslmode=verify-full into DATABASE_URL',
  )
}
