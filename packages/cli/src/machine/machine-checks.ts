/** Checks of `rollcall doctor` on a machine with the Debian package: the last backup, its copy, and the certificate. */
import { existsSync, globSync, statSync } from 'node:fs'
import { connect } from 'node:tls'
import { brokenResult, type Check, type Finding, judgeFacts, okResult, weakResult } from '@rollcall/admin/doctor/finding'
import { daysLeft, FEWEST_CERTIFICATE_DAYS } from './certificate.ts'
import { findFileText } from './facts.ts'
import { ANSWERS_FILE, SETUP_SETTINGS_FILE } from './files.ts'
import { BACKUP_FOLDER, LAST_COPY_TIME_FILE } from './places.ts'

export interface MachineFacts {
  /** The time in milliseconds since 1970. */
  readonly now: number
  /** The time of the newest backup, in milliseconds since 1970; null: there is none. */
  readonly backup: number | null
  /** The other machine to which backups are copied; `later`: none is named yet. */
  readonly copies: string
  /** The time of the last copy to the other machine, in milliseconds since 1970; null: never. */
  readonly copied: number | null
  /** The end of the certificate as text, such as `Jan  5 09:34:43 2027 GMT`; an Error when it cannot be read. */
  readonly certificate: string | Error
}

const HOUR_MILLISECONDS = 3_600_000
/** The most hours since the last backup. A backup is made each night; when one fails, somebody needs the morning to repair it. */
const MOST_HOURS_SINCE_BACKUP = 36
/** The most hours since the last copy. Copies are made every ten minutes, so a fault that lasts a day does not end by itself. */
const MOST_HOURS_SINCE_COPY = 24
/** A certificate with fewer days left is broken; one with fewer than FEWEST_CERTIFICATE_DAYS is weak. */
const CERTIFICATE_BROKEN_BELOW_DAYS = 7

export const MACHINE_CHECKS: readonly Check<MachineFacts>[] = [
  {
    check: 'backup_age',
    command: 'systemctl start rollcall-backup',
    judge({ now, backup }) {
      if (backup === null) return weakResult(`there is no backup in ${BACKUP_FOLDER} yet: a timer makes one each night`)
      const hours = Math.floor((now - backup) / HOUR_MILLISECONDS)
      if (hours <= MOST_HOURS_SINCE_BACKUP) return okResult(`the last backup is ${hours} hours old`)
      return brokenResult(
        `the last backup is ${hours} hours old: journalctl --unit rollcall-backup says why there is no newer one`,
      )
    },
  },
  {
    check: 'copy_age',
    command: 'systemctl start rollcall-copy',
    judge({ now, copies, copied }) {
      if (copies === 'later') {
        return weakResult(
          'backups and the journal are on this machine alone, and are lost with it: rollcall setup asks for another machine',
        )
      }
      const why = 'journalctl --unit rollcall-copy says why'
      if (copied === null) return brokenResult(`nothing has been copied to ${copies} yet: ${why}`)
      const hours = Math.floor((now - copied) / HOUR_MILLISECONDS)
      if (hours <= MOST_HOURS_SINCE_COPY) return okResult(`backups and the journal were copied to ${copies} ${hours} hours ago`)
      return brokenResult(`backups and the journal were copied to ${copies} ${hours} hours ago: ${why}`)
    },
  },
  {
    check: 'certificate_age',
    judge({ now, certificate }) {
      if (certificate instanceof Error)
        return brokenResult(`nobody serves a certificate under ROLLCALL_PUBLIC_URL: ${certificate.message}`)
      const days = daysLeft(certificate, now)
      if (days >= FEWEST_CERTIFICATE_DAYS) return okResult(`the certificate is valid for ${days} days more`)
      const advice = `the certificate ends in ${days} days: renew it; nginx reads the new file by itself`
      return days < CERTIFICATE_BROKEN_BELOW_DAYS ? brokenResult(advice) : weakResult(advice)
    },
  },
]

/** Judges a machine that `rollcall setup` has prepared; no findings on other machines, or without a public address. */
export async function judgeBackupsAndCertificate(publicUrl: string | undefined): Promise<readonly Finding[]> {
  if (!existsSync(SETUP_SETTINGS_FILE) || publicUrl === undefined) return []
  const made = globSync(`${BACKUP_FOLDER}/*.backup`).map((path) => statSync(path).mtimeMs)
  const backup = made.length === 0 ? null : Math.max(...made)
  const { copies = 'later' } = JSON.parse(findFileText(ANSWERS_FILE) ?? '{}') as { readonly copies?: string }
  const copied = existsSync(LAST_COPY_TIME_FILE) ? statSync(LAST_COPY_TIME_FILE).mtimeMs : null
  const certificate = await readCertificateEnd(new URL(publicUrl))
  return judgeFacts(MACHINE_CHECKS, { now: Date.now(), backup, copies, copied, certificate })
}

/** Reads when the served certificate ends. An invalid certificate is read too: that is safe, because we send it no data. */
const readCertificateEnd = ({ hostname, port }: URL): Promise<string | Error> =>
  new Promise((resolve) => {
    const socket = connect({ host: hostname, servername: hostname, port: Number(port || 443), rejectUnauthorized: false })
    const end = (found: string | Error): void => {
      socket.destroy()
      resolve(found)
    }
    socket.setTimeout(5_000, () => end(new Error('no answer within 5 seconds')))
    socket.once('error', end)
    socket.once('secureConnect', () => end(socket.getPeerCertificate().valid_to))
  })
