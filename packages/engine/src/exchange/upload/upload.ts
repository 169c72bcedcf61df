/**
 * Reads a file that was uploaded to an asynchronous path as multipart/form-data (spec "Endpoints", N8, D34). Its parts
 * are `action`, `fileFormat`, `envelope` for a file of items, and the file. A file of items is read while it arrives if
 * the other parts come first.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Participant } from '@rollcall/core/model/participant'
import { type AdmittedRequest, bodyTooLargeFault } from '@rollcall/participants/reading/body'
import { type Envelope, envelopeBounds, readEnvelope, readMessage } from '@rollcall/participants/reading/envelope'
import { verifyEnvelope } from '@rollcall/participants/trust/messages'
import {
  actionMeans,
  CanonicalText,
  encodingProblem,
  type JsonBounds,
  type Operation,
  RequestFault,
  SourcedEnvelope,
} from '@rollcall/protocol'
import { checkItemCount } from '../checks.ts'
import { type ItemChunk, makeRequestWithEnvelope, type ReadRequestDeps, type RequestWithEnvelope } from '../read-request.ts'
import { checkEndOfParts, readFields, readWholePart, type UploadFields } from './fields.ts'
import { type CheckedItem, type MakeUploadFileReader, uploadFormatsOf } from './items.ts'
import { badRequestFault, boundaryOf, type PartEvents, readPartPieces, readParts } from './multipart.ts'

/**
 * Reads the parts before the file. With fileFormat json, the file is the envelope, and is read whole. A file of another format
 * has the items, and is read with the message.
 * @throws RequestFault err.request.bad, err.signature.missing, err.encryption.invalid
 */
export async function readUploadRequest(
  deps: ReadRequestDeps,
  operation: Operation,
  participant: Participant,
  { headers, body, hold }: AdmittedRequest,
): Promise<RequestWithEnvelope> {
  const { limits } = deps
  const problem = encodingProblem(headers['content-encoding'])
  if (problem !== null) throw new RequestFault('err.request.bad', problem, 415)
  const boundary = boundaryOf(headers)
  const bounds = envelopeBounds(limits, operation.request)
  if (Number(headers['content-length'] ?? 0) > limits.upload_bytes) throw bodyTooLargeFault(limits.upload_bytes)
  const { fields, file } = await readFields(readParts(body, boundary, limits.upload_bytes, hold), limits.body_bytes)
  if (!actionMeans(operation, fields.action)) throw badRequestFault(`action: must be ${operation.action} on this path`)

  if (fields.fileFormat === 'json') {
    if (fields.envelope !== null) throw badRequestFault('envelope: stands in the file where fileFormat is json')
    const body = await readWholePart(file, 'fileName', limits.body_bytes)
    await checkEndOfParts(file)
    return makeRequestWithEnvelope(deps, 'async', operation, participant, { body, bounds })
  }
  const format = uploadFormatsOf(operation).get(fields.fileFormat)
  if (format === undefined) {
    const known = ['json', ...uploadFormatsOf(operation).keys()].join(', ')
    throw badRequestFault(`fileFormat: must be one of ${known} on this path`)
  }
  return makeItemUploadRequest(deps, operation, file, fields, {
    format,
    envelope: await readUploadEnvelope(deps, participant, fields, bounds),
  })
}

/**
 * Reads the envelope of an upload of items, which is a part beside the file.
 * @throws RequestFault it is missing, invalid or encrypted
 */
async function readUploadEnvelope(
  deps: ReadRequestDeps,
  participant: Participant,
  fields: UploadFields,
  bounds: JsonBounds,
): Promise<Envelope> {
  if (fields.envelope === null) {
    // Checks an envelope without a signature: throws err.signature.missing if the sender must sign. Any other sender learns that
    // the envelope is missing.
    await verifyEnvelope(deps, participant, new SourcedEnvelope('{}'))
    throw badRequestFault(`envelope: is required where fileFormat is ${fields.fileFormat}, before a file that is long`)
  }
  const envelope = readEnvelope(fields.envelope, bounds)
  if (envelope.header.is_msg_encrypted !== true) return envelope
  throw new RequestFault(
    'err.encryption.invalid',
    'header.is_msg_encrypted: a file of items is in clear; encrypt the envelope of a file with fileFormat json',
  )
}

/** Makes the request of an upload of items. The file's items become those of the envelope's message, in chunks. */
function makeItemUploadRequest(
  { limits }: Pick<ReadRequestDeps, 'limits'>,
  operation: Operation,
  file: PartEvents,
  { fileFormat }: UploadFields,
  { format, envelope }: { format: MakeUploadFileReader; envelope: Envelope },
): RequestWithEnvelope {
  const { request } = operation
  const member = request.items ?? ''
  return {
    envelope,
    async readAndCheckMessage({ header }, opened, signed) {
      if (Object.hasOwn(opened, member)) throw badRequestFault(`message.${member}: stands in the file`)
      const frame = readMessage(request, { ...opened, [member]: [] })
      const expected = readFileDigest(opened.file_sha256)
      if (expected === null && signed) {
        throw new RequestFault('err.signature.missing', 'message.file_sha256: is required, so that the signature covers the file')
      }
      const hash = createHash('sha256')
      const { file_sha256: _, ...rest } = frame
      const messageOf = (texts: readonly string[]): ItemChunk => ({
        // The items stay text, because they are only stored until the request is answered.
        message: { ...rest, [member]: new CanonicalText(`[${texts.join(',')}]`) },
        items: texts.length,
      })
      const chunks: ItemChunk[] = []
      let texts: string[] = []
      const reference_ids: string[] = []
      const reader = format(operation, header, limits)
      const add = (items: readonly CheckedItem[]): void => {
        for (const { text, reference_id } of items) {
          reference_ids.push(reference_id)
          texts.push(text)
          if (texts.length < limits.chunk_items) continue
          chunks.push(messageOf(texts))
          texts = []
        }
        // A file of too many items is refused here, before the rest of it is read.
        checkItemCount({ ...header, total_count: 0 }, request, reference_ids.length, limits.upload_items)
      }
      for await (const bytes of divideIntoSlices(readPartPieces(file))) {
        hash.update(bytes)
        add(reader.push(bytes))
      }
      add(reader.finish())
      await checkEndOfParts(file)
      const digest = hash.digest()
      if (expected !== null && !timingSafeEqual(digest, expected)) {
        throw new RequestFault('err.signature.invalid', 'message.file_sha256: must be the SHA-256 of the file')
      }
      checkItemCount(header, request, reference_ids.length, limits.upload_items)
      const last = texts.length > 0 || chunks.length === 0 ? [messageOf(texts)] : []
      return {
        chunks: [...chunks, ...last] as [ItemChunk, ...ItemChunk[]],
        reference_ids,
        content: { ...opened, file_sha256: digest.toString('hex'), fileFormat },
        digest: digest.toString('hex'),
      }
    },
  }
}

/**
 * Reads the digest of the file, which the envelope has in hexadecimal or base64url; null when there is none.
 * @throws RequestFault err.request.bad
 */
function readFileDigest(value: unknown): Buffer | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string') {
    if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex')
    if (/^[\w-]{43}=?$/.test(value)) return Buffer.from(value, 'base64url')
  }
  throw new RequestFault('err.request.bad', 'message.file_sha256: must be the SHA-256 of the file, in hexadecimal or base64url')
}

/** The length of a slice in bytes. Even a slice with the shortest rows of a file is read in a few milliseconds. */
const SLICE_BYTES = 4_096

/**
 * Yields a stream in short slices. The event loop does other work between two slices, because a fast connection brings
 * long pieces without a pause.
 */
export async function* divideIntoSlices(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += SLICE_BYTES) {
      yield piece.subarray(from, from + SLICE_BYTES)
      await nextTurn()
    }
  }
}
