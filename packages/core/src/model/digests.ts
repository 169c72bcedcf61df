/** Digests and random values. Only this file of core imports a module of Node. */
import { hash, randomBytes, randomUUID } from 'node:crypto'

/** SHA-256 of the text in UTF-8, 32 bytes. */
export const sha256 = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/** SHA-256 of the text in UTF-8, in hexadecimal. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

/** Random bytes from the system. @param length their number */
export const randomValues = (length: number): Uint8Array => randomBytes(length)

export const randomUuid = (): string => randomUUID()
