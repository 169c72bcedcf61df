import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PROPERTY_SEED } from '../../../../test/property-seed.ts'
import { LogLost } from '../engine/change-log.ts'
import { LoggedKeys } from '../engine/logged-keys.ts'
import { BinlogKeyCollector } from './binlog-events.ts'
import { PacketReader } from './binlog-packets.ts'
import { parseBinlogPlace, placeOrderNumber, placeText } from './binlog-places.ts'

const PLACE = { file: 'bin.000001', position: 4, made: 77, gtids: '0-1-1' }
const PARTS = new Map([['office.person', [{ recordType: 'Person', key: 'no' }]]])
const CHARSETS = new Map([
  [45, 'utf8mb4'],
  [8, 'latin1'],
  [35, 'ucs2'],
])

const le = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntLE(value, 0, bytes)
  return buffer
}
const name = (text: string): Buffer => Buffer.concat([le(text.length, 1), Buffer.from(`${text}\0`)])
const counted = (bytes: Buffer): Buffer => Buffer.concat([le(bytes.length, 1), bytes])

interface Given {
  readonly end?: number
  readonly flags?: number
  readonly time?: number
}
const event = (type: number, body: Buffer, { end = 0, flags = 0, time = 0 }: Given = {}): Buffer =>
  Buffer.concat([le(time, 4), le(type, 1), le(1, 4), le(19 + body.length, 4), le(end, 4), le(flags, 2), body])

const gtid = (number: number, end: number, standalone = 0) =>
  event(162, Buffer.concat([le(number, 6), le(0, 2), le(0, 4), le(standalone, 1)]), { end })
const commit = (end: number) => event(16, le(0, 6), { end })
const query = (text: string, end = 0) =>
  event(2, Buffer.concat([Buffer.alloc(8), le(6, 1), le(0, 2), le(2, 2), le(0, 2), Buffer.from(`office\0${text}`)]), { end })
/** A blob of up to 4 GB, and the key: a text of this collation, or a whole number where it is null. */
const table = (key = 'no', collation: number | null = 45, kind = 'person') =>
  event(
    19,
    Buffer.concat([
      ...[le(7, 6), le(0, 2), name('office'), name(kind), le(2, 1)],
      ...[Buffer.from([252, collation === null ? 3 : 15]), counted(Buffer.from(collation === null ? [4] : [4, 36, 0]))],
      le(3, 1),
      ...[le(1, 1), counted(Buffer.from([collation === null ? 0x80 : 0]))],
      ...[le(3, 1), counted(Buffer.from(collation === null ? [63] : [63, collation]))],
      ...[le(4, 1), counted(Buffer.concat([counted(Buffer.from('photo')), counted(Buffer.from(key))]))],
    ]),
  )
const row = (key: Buffer, photo = Buffer.from('photo')) => Buffer.concat([le(0, 1), le(photo.length, 4), photo, counted(key)])
const rows = (type: number, ...images: readonly Buffer[]) =>
  event(type, Buffer.concat([le(7, 6), le(0, 2), le(2, 1), ...(type === 24 ? [le(3, 1)] : []), le(3, 1), ...images]))
const insert = (...keys: readonly string[]) => rows(23, ...keys.map((key) => row(Buffer.from(key))))

/** The packet of an event; a long one is several packets. */
function packetsOf(bytes: Buffer): Buffer {
  const all = Buffer.concat([le(0, 1), bytes])
  const packets: Buffer[] = []
  for (let at = 0; at <= all.length; at += 0xff_ff_ff) {
    const some = all.subarray(at, at + 0xff_ff_ff)
    packets.push(le(some.length, 3), le(packets.length & 255, 1), some)
  }
  return Buffer.concat(packets)
}

/** Reads the events, in chunks of these sizes and a last one. */
function read(events: readonly Buffer[], sizes: readonly number[] = []) {
  const keys = new LoggedKeys(placeText(PLACE))
  const reading = new BinlogKeyCollector({ place: PLACE, parts: PARTS, charsets: CHARSETS, keys })
  const packets = new PacketReader((bytes) => reading.add(bytes))
  let rest = Buffer.concat(events.map(packetsOf))
  for (const size of sizes) {
    packets.add(rest.subarray(0, size))
    rest = rest.subarray(size)
  }
  packets.add(rest)
  const { due, position, ...taken } = keys.take(100_000)
  return { ...taken, keys: [...(due.get('Person') ?? [])], place: parseBinlogPlace(position) }
}

const TRANSACTION = [gtid(2, 50), table(), insert('a', 'b'), rows(24, row(Buffer.from('c')), row(Buffer.from('d')))]

test('keys of rows are read, before and after a change, with the place behind their transaction', () => {
  const found = { transactions: [placeOrderNumber({ file: 'bin.000001', position: 50 })], isEmptied: false }
  const place = { file: 'bin.000001', position: 90, made: 77, gtids: '0-1-2' }
  expect(read([...TRANSACTION, commit(90)])).toEqual({ ...found, keys: ['a', 'b', 'c', 'd'], place })
  expect(read([...TRANSACTION, query('COMMIT', 90)])).toEqual({ ...found, keys: ['a', 'b', 'c', 'd'], place })
  expect(read(TRANSACTION)).toMatchObject({ keys: [], place: PLACE })
})

test('events are read wherever the stream is cut', () => {
  const events = [...TRANSACTION, commit(90), gtid(3, 130), table(), insert('e'), commit(150)]
  const whole = read(events)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), (sizes) => {
      expect(read(events, sizes)).toEqual(whole)
    }),
    { seed: PROPERTY_SEED },
  )
})

test('a row of many packets needs no memory but for its key', () => {
  const long = rows(23, row(Buffer.from('a'), Buffer.alloc(0xff_ff_ff + 9)), row(Buffer.from('b')))
  const sizes = Array.from({ length: 200 }, () => 65_536)
  expect(read([gtid(2, 50), table(), long, commit(90)], sizes)).toMatchObject({ keys: ['a', 'b'] })
})

test('keys are numbers with their sign, and texts of their character set', () => {
  const number = rows(23, Buffer.concat([le(0, 1), le(0, 4), le(4_294_967_295, 4)]))
  expect(read([gtid(2, 50), table('no', null), number, commit(90)]).keys).toEqual(['4294967295'])
  const texts = rows(23, row(Buffer.from([0xc3, 0x93])))
  expect(read([gtid(2, 50), table('NO'), texts, commit(90)]).keys).toEqual(['Ó'])
  expect(read([gtid(2, 50), table('no', 8), texts, commit(90)]).keys).toEqual(['Ã“'])
})

test('rows of other tables are passed over, and so are rows without a key', () => {
  const other = [gtid(2, 50), table('no', 45, 'photo'), insert('a'), commit(90)]
  expect(read(other)).toMatchObject({ keys: [], isEmptied: false, place: { position: 90 } })
  const long = 'k'.repeat(255)
  expect(read([gtid(2, 50), table(), rows(23, Buffer.concat([le(2, 1), le(0, 4)])), insert(long), commit(90)]).keys).toEqual([
    long,
  ])
})

test.each<[string, boolean]>([
  ['TRUNCATE TABLE `person`', true],
  ['alter table Person drop column photo', true],
  ['DROP DATABASE office', true],
  ['create table größe (no int)', true],
  [`create table other (no int) comment '${'x'.repeat(70_000)}'`, true],
  ['create table person_2 (no int)', false],
  ['DROP TABLE `photo` /* generated by server */', false],
])('of definitions those of tables with records lead to a comparison: %s', (statement, isEmptied) => {
  const found = read([gtid(2, 50, 1), query(statement, 90)])
  expect(found).toMatchObject({ isEmptied, place: { position: 90, gtids: '0-1-2' } })
})

test('the place is that in the next file, when the log goes on there', () => {
  const rotate = event(4, Buffer.concat([le(4, 6), le(0, 2), Buffer.from('bin.000002')]), { end: 200 })
  const format = event(15, Buffer.alloc(80), { end: 256, time: 99 })
  expect(read([rotate, format]).place).toEqual({ file: 'bin.000002', position: 256, made: 99, gtids: '0-1-1' })
  const heartbeat = event(27, Buffer.from('bin.000002'), { end: 300 })
  expect(read([rotate, format, heartbeat]).place.position).toBe(300)
})

test.each<[string, readonly Buffer[], string]>([
  ['a statement in place of rows', [gtid(2, 50), query(`insert into person values ('a')`)], 'in place of its rows'],
  ['a transaction of several databases', [gtid(2, 50, 1), query(`XA COMMIT 'a'`)], 'in place of its rows'],
  ['an unknown event', [event(165, Buffer.alloc(9))], 'an event has the type 165'],
  ['a table without names', [gtid(2, 50), table('other')], 'no column of the name of its key'],
  ['a key of a character set that is not read', [gtid(2, 50), table('no', 35)], 'a key has a type'],
  ['rows without a table', [gtid(2, 50), insert('a')], 'rows have no table'],
  ['a row that is too short', [gtid(2, 50), table(), rows(23, le(0, 1), le(9, 4))], 'too short'],
  ['a file that was made anew', [event(15, Buffer.alloc(80), { time: 78 })], 'another file has the name'],
  ['the description of a table without its end', [gtid(2, 50), event(19, Buffer.alloc(9))], 'too short'],
])('%s cannot be understood', (_, events, problem) => {
  expect(() => read(events)).toThrow(problem)
})

test('events that may be passed over, and those that say nothing of rows, are', () => {
  const others = [event(165, Buffer.alloc(9), { flags: 0x80 }), event(161, Buffer.alloc(9), { end: 60 })]
  expect(read(others)).toMatchObject({ isEmptied: false, place: { position: 60 } })
})

test('an error of the server is one, wherever the stream is cut', () => {
  const words = Buffer.concat([le(255, 1), le(1236, 2), Buffer.from('#HY000Could not find it')])
  const packet = Buffer.concat([le(words.length, 3), le(1, 1), words])
  const packets = new PacketReader(() => expect.fail())
  packets.add(packet.subarray(0, 9))
  expect(() => packets.add(packet.subarray(9))).toThrow(
    expect.objectContaining({ errno: 1236, sqlState: 'HY000', message: 'Could not find it' }),
  )
  expect(() => new PacketReader(() => undefined).add(Buffer.from([1, 0, 0, 1, 254]))).toThrow(LogLost)
})
