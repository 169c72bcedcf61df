/** The set-up of examples of `rollcall source`: a civil office's database, and the file that says where it is. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientConfig } from 'pg'
import { makeOffice, officeReader, officeSource } from '../../source/test/office.ts'

/**
 * @param office an empty database
 * @returns the address of its reader
 */
export async function writeSource(folder: string, office: ClientConfig): Promise<string> {
  await makeOffice(office, [
    { person_no: 1, national_no: '8128560370', family_name: 'Okoro', gender: 2, born: '1950-03-01' },
    { person_no: 2, national_no: '5493387689', family_name: 'Obi', gender: 1, birth: { no: 'B-2', place: 'Moshi' } },
  ])
  const address = join(folder, 'civil-source')
  const reader = await officeReader(office)
  await writeFile(address, reader, { mode: 0o600 })
  await writeFile(join(folder, 'source.yaml'), JSON.stringify(officeSource({ file: address })), { mode: 0o600 })
  return reader
}
