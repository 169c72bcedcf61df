import { normaliseCode, RequestFault } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { bodyText } from '../../../delivery/test/stranger/signing.ts'
import { CIVIL, onSearch, sent, signed } from '../../test/callbacks.ts'
import { failure } from '../../test/world.ts'
import {
  AckError,
  type AnswerHandlers,
  type ClientOptions,
  identifier,
  onCheckEnrolment,
  Receiver,
  type ReceiverOptions,
  RegistryClient,
} from '../index.ts'
import { ENROLMENT_LABELS } from './on-check-enrolment.ts'

const [ours, theirs] = [keyPair('Ed25519'), keyPair('Ed25519')]
const [oursToDecrypt, theirsToDecrypt] = [keyPair('X25519'), keyPair('X25519')]

const ALG = 'ECDH-ES+A256KW'

/** Makes the receiver of `ess.example`, which `sp.example` asks. */
function ess(answers: AnswerHandlers, options: Partial<ReceiverOptions> = {}): Receiver {
  const keys = [
    { ...theirs.jwk, kid: 'sp-1', use: 'sig' },
    { ...theirsToDecrypt.jwk, kid: 'sp-enc', alg: ALG, use: 'enc' },
  ]
  return new Receiver({
    receiver_id: 'ess.example',
    peers: [{ sender_id: 'sp.example', keys: { keys } }],
    decryption_keys: [{ ...oursToDecrypt.privateJwk, kid: 'ess-enc' }],
    signing: { key: { ...ours.privateJwk, kid: 'ess-1' } },
    answers,
    ...options,
  })
}

/** A client whose requests go to that receiver. */
function asking(receiver: Receiver, options: Partial<ClientOptions> = {}): RegistryClient {
  return new RegistryClient({
    base_url: 'https://ess.example/anywhere',
    sender_id: 'sp.example',
    receiver_id: 'ess.example',
    signing: { key: { ...theirs.privateJwk, kid: 'sp-1' } },
    peer: { keys: { keys: [{ ...ours.jwk, kid: 'ess-1', use: 'sig' }] } },
    fetch: (url, init) => receiver.handle(new Request(url, init)),
    retry: { attempts: 1 },
    ...options,
  })
}

const STATUSES = new Map([['4100', 'Active'] as const, ['4101', 'Awaiting Renewal'] as const])
const answers = { 'enrolment-status': onCheckEnrolment(({ person }) => STATUSES.get(person as '4100') ?? null) }

describe('whether somebody remains enrolled', () => {
  it.each([
    ['4100', 'Active'],
    ['4101', 'Awaiting Renewal'],
    ['9999', 'Inactive'],
  ])('of %s is %s', async (person, label) => {
    expect(await asking(ess(answers)).checkEnrolment(person)).toBe(label)
  })

  it('is answered in the envelope of the public example, signed', async () => {
    const answer = await asking(ess(answers)).ask('enrolment-status', {
      enrolled_criteria: { query: { person_identifier: { eq: '4100' } } },
    })
    expect(answer).toMatchObject({
      signed: true,
      header: {
        action: 'txn-on-status',
        status: 'succ',
        total_count: 1,
        completed_count: 1,
        sender_id: 'ess.example',
        receiver_id: 'sp.example',
      },
      message: { enrolled_response: [{ reference_id: '4100', status: 'succ', enrolled_status: 'Active' }] },
    })
  })

  it('is answered encrypted where it was asked so', async () => {
    const encryption = {
      keys: [{ ...theirsToDecrypt.privateJwk, kid: 'sp-enc' }],
      encrypt_for: { ...oursToDecrypt.jwk, kid: 'ess-enc', alg: ALG },
    }
    const client = asking(ess(answers), { encryption })
    expect(await client.checkEnrolment('4100')).toBe('Active')
    const peers = [{ sender_id: 'sp.example', keys: { keys: [{ ...theirs.jwk, kid: 'sp-1', use: 'sig' }] } }]
    const without = asking(ess(answers, { peers }), { encryption })
    expect(await failure(without.checkEnrolment('4100'))).toMatchObject({
      code: 'err.encryption.invalid',
      message: 'the sender publishes no key to encrypt the answer with',
    })
  })

  it('may be asked of one programme', async () => {
    const programmes: (string | null)[] = []
    const noting = {
      'enrolment-status': onCheckEnrolment(({ programme }) => {
        programmes.push(programme)
        return null
      }),
    }
    const person_identifier = { eq: '4100' }
    for (const query of [{ person_identifier, programme_identifier: { eq: 'PRG-7' } }, { person_identifier }]) {
      await asking(ess(noting)).ask('enrolment-status', { enrolled_criteria: { query } })
    }
    expect(programmes).toEqual(['PRG-7', null])
  })

  it('is answered alike for somebody who is unknown, and for somebody who is inactive', async () => {
    const told = async (status: 'Inactive' | null) => {
      const client = asking(ess({ 'enrolment-status': onCheckEnrolment(() => status) }))
      const query = { person_identifier: { eq: '9999' } }
      const { message } = await client.ask('enrolment-status', { enrolled_criteria: { query } })
      return message.enrolled_response.map((item) => ({ ...item, timestamp: null }))
    }
    expect(await told(null)).toEqual(await told('Inactive'))
    expect(await told(null)).toMatchObject([{ enrolled_status: 'Inactive', status_reason_message: 'person not enrolled' }])
  })

  it('is refused where the query does not say who is meant', async () => {
    const client = asking(ess(answers))
    const about = (query: Record<string, unknown>) => failure(client.ask('enrolment-status', { enrolled_criteria: { query } }))
    const place = 'message.enrolled_criteria.query'
    expect(await about({})).toMatchObject({ code: 'err.request.bad', message: `${place}: must compare person_identifier` })
    expect(await about({ surname: { eq: 'SECRET' } })).toMatchObject({
      code: 'err.request.bad',
      message: expect.stringMatching(/^message\.enrolled_criteria\.query: each attribute must be one of /),
    })
  })

  it('has the labels of the public list', () => {
    const codes = ENROLMENT_LABELS.map((label) => normaliseCode('ess_enrolment_status', label))
    expect(codes).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  })
})

describe('a question', () => {
  const searching: AnswerHandlers = {
    search: ({ message }) => ({
      search_response: message.search_request.map(({ reference_id, timestamp }) =>
        reference_id === 'bad'
          ? { reference_id, timestamp, status: 'rjct', status_reason_code: 'rjct.filter.invalid' }
          : { reference_id, timestamp, status: 'succ', data: { reg_records: [{ a: 1 }] } },
      ),
    }),
  }

  it('may be a search', async () => {
    expect(await asking(ess(searching)).searchOne(identifier('UIN', '4100'))).toEqual({ a: 1 })
    const criteria = { reference_id: 'bad', search_criteria: identifier('UIN', '4100') }
    const answer = await asking(ess(searching)).search(criteria)
    expect(answer.header.status).toBe('rjct')
  })

  it('that comes again is answered again', async () => {
    let asked = 0
    const counting = { 'enrolment-status': onCheckEnrolment(() => (asked++ === 0 ? 'Active' : 'Exited')) }
    const receiver = ess(counting)
    const bodies: string[] = []
    const fetch: ClientOptions['fetch'] = (url, init) => {
      bodies.push(String(init.body))
      return receiver.handle(new Request(url, init))
    }
    expect(await asking(receiver, { fetch }).checkEnrolment('1')).toBe('Active')
    const again = await sent(receiver, bodies[0] ?? '', { path: '/sync/check-enrollment' })
    expect(again.body.message.enrolled_response[0].enrolled_status).toBe('Exited')
  })

  it('that fails is to be asked again later, and the reason is ours', async () => {
    const errors: unknown[] = []
    const broken = { 'enrolment-status': onCheckEnrolment(() => Promise.reject(new Error('SECRET'))) }
    const receiver = ess(broken, { on_error: (error) => errors.push(error) })
    expect(await failure(asking(receiver).checkEnrolment('1'))).toMatchObject({
      code: 'err.service.unavailable',
      httpStatus: 500,
      message: 'the message was not handled; send it again later',
    })
    expect(errors).toEqual([new Error('SECRET')])
    const refusing = { search: () => Promise.reject(new RequestFault('err.request.forbidden', 'not you')) }
    expect(await failure(asking(ess(refusing)).search(identifier('UIN', '1')))).toMatchObject({ code: 'err.request.forbidden' })
  })

  it('whose handler gives what is no answer fails', async () => {
    const errors: unknown[] = []
    const wrong = { search: () => ({ search_response: [{}] }) } as object as AnswerHandlers
    const receiver = ess(wrong, { on_error: (error) => errors.push(error) })
    expect(await failure(asking(receiver).search(identifier('UIN', '1')))).toBeInstanceOf(AckError)
    expect(String(errors[0])).toMatch(/^TypeError: the handler of search returned an invalid answer: message\./)
  })

  it.each([
    ['of another sender', { sender_id: 'evil.example' }, 'err.sender_id.invalid'],
    ['for another receiver', { receiver_id: 'other.example' }, 'err.receiver_id.invalid'],
    ['that is not signed', { signing: undefined }, 'err.signature.missing'],
    ['signed by somebody else', { signing: { key: { ...ours.privateJwk, kid: 'sp-1' } } }, 'err.signature.invalid'],
  ])('%s is refused', async (_name, changes, code) => {
    const client = asking(ess(answers), changes as Partial<ClientOptions>)
    expect(await failure(client.checkEnrolment('4100'))).toMatchObject({ code })
  })

  it('must have the action of its path, and all its members', async () => {
    const off = ess(answers, { peers: [{ ...CIVIL, signature: 'off' }] })
    const at = { path: '/x/registry/sync/check-enrollment' }
    const header = { receiver_id: 'ess.example' }
    expect((await sent(off, bodyText(onSearch({ header })), at)).ack.error).toEqual({
      code: 'err.request.bad',
      message: 'header.action: must be enrollementstatus on this path',
    })
    const asked = onSearch({ header: { ...header, action: 'enrollementstatus' } })
    expect((await sent(off, bodyText(asked), at)).ack.error).toEqual({
      code: 'err.request.bad',
      message: 'message.enrolled_criteria: is required',
    })
  })

  it('that nobody here answers is refused, and callbacks are as they were', async () => {
    expect(await failure(asking(ess(answers)).search(identifier('UIN', '1')))).toBeInstanceOf(AckError)
    const peers = [CIVIL]
    const both = ess(answers, { peers, receiver_id: ['ess.example', 'sp.example'], handlers: { 'on-search': () => 1 } })
    expect((await sent(both, signed(onSearch()))).ack.ack_status).toBe('ACK')
  })

  it('is answered only by one who signs', () => {
    expect(() => new Receiver({ receiver_id: 'ess.example', peers: [], answers })).toThrow(
      new TypeError('answers need signing: the private key that signs them'),
    )
  })
})
