/** Recognises the type of a file and the encoding of its text from its first bytes. */
import { isUtf8 } from 'node:buffer'
import { UTF8_MARK } from '@rollcall/base/files/lines'
import { ImportError } from './import-error.ts'

const EXCEL_ADVICE = 'open it and save its sheet as a file of the type "CSV UTF-8", then import that file'

/** Types of files that are no text, by their first bytes. */
const NON_TEXT_FILE_TYPES: readonly { readonly begins: readonly number[]; readonly advice: (head: Buffer) => string }[] = [
  { begins: [0x50, 0x4b, 0x03, 0x04], advice: zipAdvice },
  {
    begins: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
    advice: () => `the file is an Excel workbook (.xls): ${EXCEL_ADVICE}`,
  },
  { begins: [0x1f, 0x8b], advice: () => 'the file is compressed with gzip: unpack it first, with gunzip' },
  { begins: [0x42, 0x5a, 0x68], advice: () => 'the file is compressed with bzip2: unpack it first, with bunzip2' },
  { begins: [0xfd, 0x37, 0x7a, 0x58, 0x5a], advice: () => 'the file is compressed with xz: unpack it first, with unxz' },
  { begins: [0x28, 0xb5, 0x2f, 0xfd], advice: () => 'the file is compressed with zstd: unpack it first, with unzstd' },
  { begins: [0x37, 0x7a, 0xbc, 0xaf], advice: () => 'the file is an archive (7z): unpack it first' },
  {
    begins: [0x25, 0x50, 0x44, 0x46],
    advice: () => 'the file is a PDF, which has no records: ask for the table as CSV, from where it was made',
  },
  { begins: [0x50, 0x41, 0x52, 0x31], advice: () => 'the file is in the Parquet format: write it as NDJSON or CSV' },
  {
    begins: [...Buffer.from('SQLite format 3')],
    advice: () => 'the file is an SQLite database: write its table as CSV, with sqlite3 -header -csv',
  },
]

function zipAdvice(head: Buffer): string {
  if (head.includes('opendocument.spreadsheet')) {
    return 'the file is a spreadsheet (.ods): open it and save its sheet as "Text CSV" with the character set UTF-8, then import that file'
  }
  const isExcel = head.includes('[Content_Types].xml') || head.includes('xl/')
  return isExcel
    ? `the file is an Excel workbook (.xlsx): ${EXCEL_ADVICE}`
    : 'the file is a zip archive: unpack it first, with unzip'
}

/**
 * Refuses a file that begins like one of `NON_TEXT_FILE_TYPES`, for example a spreadsheet or an archive.
 * @throws ImportError says what to do instead
 */
export function refuseNonTextFile(head: Buffer): void {
  const found = NON_TEXT_FILE_TYPES.find(({ begins }) => head.subarray(0, begins.length).equals(Buffer.from(begins)))
  if (found !== undefined) throw new ImportError(found.advice(head))
}

/** The byte order marks and their encodings. */
const BYTE_ORDER_MARKS = [
  { bytes: UTF8_MARK, encoding: 'utf-8' },
  { bytes: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { bytes: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
]

/** The byte order mark at the beginning of a file; 0 bytes when there is none. */
export interface ByteOrderMark {
  readonly bytes: number
  /** The encoding that the mark shows; null when there is no mark. */
  readonly encoding: string | null
}

export function byteOrderMarkOf(head: Buffer): ByteOrderMark {
  const found = BYTE_ORDER_MARKS.find(({ bytes }) => head.subarray(0, bytes.length).equals(bytes))
  return { bytes: found?.bytes.length ?? 0, encoding: found?.encoding ?? null }
}

/**
 * Finds the encoding of a text without a byte order mark: UTF-8, or windows-1252, which Western spreadsheets write. A UTF-8 text
 * with few faults counts as UTF-8, and its faulty rows are rejected.
 * @throws ImportError the text has zero bytes, as UTF-16 has
 */
export function detectEncoding(head: Buffer): 'utf-8' | 'windows-1252' {
  if (head.includes(0)) {
    throw new ImportError('the file has zero bytes: if it is UTF-16 without a byte order mark, add --encoding utf-16le')
  }
  if (isUtf8(head)) return 'utf-8'
  const text = new TextDecoder().decode(head, { stream: true })
  const faults = text.split('\ufffd').length - 1
  const others = (text.match(/[^ -~\s\ufffd]/g) ?? []).length
  return others >= faults ? 'utf-8' : 'windows-1252'
}
