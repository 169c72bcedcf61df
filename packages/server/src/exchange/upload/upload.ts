/**
 * A file on an asynchronous path, as multipart/form-data (spec "Endpoints", N8, D34): `action`, `fileFormat` and, where
 * the file holds items only, `envelope`; and the file, read as it comes where they stand before it.
 */

import {
  actionMeans,
  CanonicalText,
  type JsonObject,
  type Operation,
  RequestFault,
  SourcedEnvelope,
} from '@rollcall/protocol'
import type { Message } from '../../model/exchange.ts'
import type { Participant } from '../../model/participant.ts'
import {
  type AdmittedRequest,
  checkEncoding,
  type IncomingRequest,
  mediaType,
  tooLarge,
} from '../../reading/body.ts'
import { envelopeBounds } from '../../reading/bounds.ts'
import { type Envelope, readEnvelope, readMessage } from '../../reading/envelope.ts'
import { verifyEnvelope } from '../../trust/messages.ts'
import { checkCount } from '../checks.ts'
import { CHUNK, type Chunk, type ReadingSent, type Sent, sentAs } from '../sent.ts'
import { inSlices } from '../slices.ts'
import { type BulkFormat, bulkFormats, type ReadItem } from './bulk.ts'
import { FileDigest, readDigest } from './file-digest.ts'
import { boundaryOf, type PartEvent, readParts } from './multipart.ts'
import { type Fields, readFields, theEnd, wholePart } from './upload-fields.ts'

export const isUpload = ({ headers }: IncomingRequest): boolean =>
  mediaType(headers) === 'multipart/form-data'

/**
 * Reads up to the file; of a file that holds an envelope, all of it.
 * @throws RequestFault err.request.bad, err.signature.missing, err.encryption.invalid
 */
export async function takeUpload(
  parts: ReadingSent,
  operation: Operation,
  participant: Participant,
  { headers, body, hold }: AdmittedRequest,
): Promise<Sent> {
  const { limits } = parts
  checkEncoding(headers)
  const boundary = boundaryOf(headers)
  if (Number(headers['content-length'] ?? 0) > limits.upload_bytes) throw tooLarge(limits.upload_bytes)
  const { fields, file } = await readFields(
    readParts(body, boundary, limits.upload_bytes, hold),
    limits.body_bytes,
  )
  if (!actionMeans(operation, fields.action)) throw bad(`action: must be ${operation.action} on this path`)

  if (fields.fileFormat === 'json') {
    if (fields.envelope !== null) throw bad('envelope: stands in the file where fileFormat is json')
    const text = await wholePart(file, 'fileName', limits.body_bytes)
    await theEnd(file)
    return sentAs(parts, 'async', operation, participant, text)
  }
  const format = bulkFormats(operation).get(fields.fileFormat)
  if (format === undefined) {
    const known = ['json', ...bulkFormats(operation).keys()].join(', ')
    throw bad(`fileFormat: must be one of ${known} on this path`)
  }
  return sentAsItems(parts, operation, file, fields, {
    format,
    envelope: await envelopeOf(parts, operation, participant, fields),
  })
}

/** What header and signature are read from: a part of its own. */
async function envelopeOf(
  parts: ReadingSent,
  operation: Operation,
  participant: Participant,
  fields: Fields,
): Promise<Envelope> {
  if (fields.envelope === null) {
    // Who must sign is told that, as with any message; the others lack the header alone.
    await verifyEnvelope(parts, participant, new SourcedEnvelope('{}'))
    throw bad(`envelope: is required where fileFormat is ${fields.fileFormat}, before a file that is long`)
  }
  const envelope = readEnvelope(fields.envelope, envelopeBounds(parts.limits, operation.request))
  if (envelope.header.is_msg_encrypted !== true) return envelope
  throw new RequestFault(
    'err.encryption.invalid',
    'header.is_msg_encrypted: a file of items is in clear; encrypt the envelope of a file with fileFormat json',
  )
}

/** A file of items, which join the message of its envelope chunk by chunk. */
function sentAsItems(
  { limits }: Pick<ReadingSent, 'limits'>,
  operation: Operation,
  parts: AsyncGenerator<PartEvent, void, void>,
  { fileFormat }: Fields,
  { format, envelope }: { format: BulkFormat; envelope: Envelope },
): Sent {
  const { request } = operation
  const member = request.items ?? ''
  return {
    envelope,
    async read({ header }, opened, signed) {
      if (Object.hasOwn(opened, member)) throw bad(`message.${member}: stands in the file`)
      const frame = readMessage(request, { ...opened, [member]: [] })
      const expected = readDigest(opened.file_sha256)
      if (expected === null && signed) {
        throw new RequestFault(
          'err.signature.missing',
          'message.file_sha256: is required, so that the signature covers the file',
        )
      }
      const digest = new FileDigest()
      const { file_sha256: _, ...rest } = frame as Message & JsonObject
      const messageOf = (texts: readonly string[]): Chunk => ({
        // Its items are written, and not read any more.
        message: { ...rest, [member]: new CanonicalText(`[${texts.join(',')}]`) },
        items: texts.length,
      })
      const chunks: Chunk[] = []
      let texts: string[] = []
      const reference_ids: string[] = []
      const reader = format(operation, header, limits)
      const add = (items: readonly ReadItem[]): void => {
        for (const { text, reference_id } of items) {
          reference_ids.push(reference_id)
          texts.push(text)
          if (texts.length < CHUNK) continue
          chunks.push(messageOf(texts))
          texts = []
        }
        // Refused as soon as it is known: the rest of the file is not read.
        checkCount({ ...header, total_count: 0 }, request, reference_ids.length, limits.upload_items)
      }
      for await (const bytes of inSlices(fileOf(parts))) {
        digest.add(bytes)
        add(reader.push(bytes))
      }
      add(reader.finish())
      await theEnd(parts)
      const file_sha256 = digest.end(expected)
      checkCount(header, request, reference_ids.length, limits.upload_items)
      const last = texts.length > 0 || chunks.length === 0 ? [messageOf(texts)] : []
      return {
        chunks: [...chunks, ...last] as [Chunk, ...Chunk[]],
        reference_ids,
        content: { ...opened, file_sha256, fileFormat },
      }
    },
  }
}

/** The pieces of the part that has begun. */
async function* fileOf(parts: AsyncGenerator<PartEvent, void, void>): AsyncGenerator<Buffer> {
  for (;;) {
    const { value, done } = await parts.next()
    if (done === true || value.is !== 'data') return
    yield value.bytes
  }
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)
