/**
 * Reads the address of a source, and its certificates, from the places that its file names. An address may have a
 * password, so no message quotes it.
 */

import { readFileSync, statSync } from 'node:fs'
import { systemReason } from '@rollcall/base/shared/system-error'
import type { SourceFile } from './mapped-records.ts'
import { makeRefusal, SourceRefusal } from './source-refusal.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** The most bytes of a file with an address, and of a file with certificates. */
const MOST_ADDRESS_FILE_BYTES = 4_096
const MOST_CERTIFICATE_FILE_BYTES = 1_048_576

/** Matches variables of Rollcall itself. A source file may not name them: it could name Rollcall's own database as a source. */
const OWN_VARIABLE_PATTERN = /^(?:DATABASE_URL|ROLLCALL_.*)$/

/**
 * Reads the address of a source. The engine checks the protocol of the address.
 * @throws SourceRefusal it is missing, is no URL, cannot be read, or is in a variable of Rollcall itself
 */
export function readAddress({ url }: Pick<SourceFile, 'url'>, env: EnvironmentVariables): URL {
  if ('env' in url && OWN_VARIABLE_PATTERN.test(url.env)) {
    throw makeRefusal(['url', 'env'], `${url.env} is a variable of Rollcall itself; give the address another name`)
  }
  const text = 'env' in url ? env[url.env] : readTextFile(url.file, MOST_ADDRESS_FILE_BYTES, ['url', 'file'])
  const place = 'env' in url ? `the variable ${url.env}` : `the file ${url.file}`
  if (text === undefined || text === '') throw makeRefusal(['url'], `${place} is not set`)
  const address = URL.parse(text)
  if (address === null) throw makeRefusal(['url'], `${place} holds no URL, such as postgresql://reader@host/name`)
  return address
}

/**
 * Reads the certificates by which a source's database is verified; null: the source file names none.
 * @throws SourceRefusal
 */
export const readCertificates = ({ ca }: Pick<SourceFile, 'ca'>): string | null =>
  ca === null ? null : readTextFile(ca, MOST_CERTIFICATE_FILE_BYTES, ['tls', 'ca'])

/** Reads a file of at most `most` bytes, without a last line break. @throws SourceRefusal about the member `at` */
function readTextFile(path: string, most: number, at: readonly string[]): string {
  try {
    const found = statSync(path)
    // Only regular files are read, because reading a device or a pipe could never end.
    if (!found.isFile()) throw makeRefusal(at, `${path} is no regular file`)
    if (found.size > most) throw makeRefusal(at, `${path} has more than ${most} bytes`)
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    if (error instanceof SourceRefusal) throw error
    throw makeRefusal(at, `${path} cannot be read: ${systemReason(error)}`)
  }
}
