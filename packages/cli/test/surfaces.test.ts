/** Whether a change of a public surface is growth or loss. The surfaces are compared in `surfaces.world.test.ts`. */
import { Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandLineSurface } from '../../../build/command-lines.ts'
import { declarationSurface } from '../../../build/declarations.ts'
import { lost, type Surface, surfaceOf } from '../../../build/surface.ts'

const object = <Members extends object>(properties: Members, required: readonly string[] = [], more: object = {}) => ({
  type: 'object',
  properties,
  required,
  ...more,
})
const string = { type: 'string' }
const compared = (direction: 'input' | 'output', was: object, is: object): readonly string[] =>
  lost(surfaceOf(was, 'x', direction), surfaceOf(is, 'x', direction))

describe('what is sent', () => {
  const was = object({ a: { type: 'string', maxLength: 10 }, b: { anyOf: [string, { type: 'null' }] } }, ['a'])

  test.each<[string, object, readonly string[]]>([
    ['may get a further optional member', object({ ...was.properties, c: string }, ['a']), []],
    ['may be less strict', object({ ...was.properties, a: { type: 'string', maxLength: 20 } }), []],
    ['may take further types', object({ ...was.properties, a: { type: ['string', 'number'] } }, ['a']), []],
    ['loses no member', object({ a: was.properties.a }, ['a']), ['x.b was removed']],
    ['demands nothing more', object(was.properties, ['a', 'b']), ['x.b was optional and is required']],
    ['demands nothing new', object({ ...was.properties, c: string }, ['a', 'c']), ['x.c is new and required']],
    ['takes what it took', object({ ...was.properties, b: string }, ['a']), ['x.b does not take null any more']],
    [
      'takes as much as it took',
      object({ ...was.properties, a: { type: 'string', maxLength: 9 } }, ['a']),
      ['x.a is narrower: maxLength'],
    ],
    ['takes what it did not know', object(was.properties, ['a'], { additionalProperties: false }), ['x is narrower: closed']],
  ])('%s', (_, is, lines) => expect(compared('input', was, is)).toEqual(lines))
})

describe('what is answered', () => {
  const was = object({ a: string, b: { enum: ['x', 'y'] }, c: { type: 'array', items: object({ d: string }) } }, ['a'])

  test.each<[string, object, readonly string[]]>([
    ['may get a further member', object({ ...was.properties, e: string }, ['a', 'e']), []],
    ['may get a further value', object({ ...was.properties, b: { enum: ['x', 'y', 'z'] } }, ['a']), []],
    ['may always be there', object(was.properties, ['a', 'b']), []],
    ['loses no member', object({ a: string, b: was.properties.b }, ['a']), ['x.c was removed']],
    ['is still there', object(was.properties), ['x.a was always there and may be missing']],
    ['is nothing else', object({ ...was.properties, a: { type: ['string', 'null'] } }, ['a']), ['x.a may also be null']],
    [
      'loses no member of a list',
      object({ ...was.properties, c: { type: 'array', items: object({}) } }, ['a']),
      ['x.c[].d was removed'],
    ],
  ])('%s', (_, is, lines) => expect(compared('output', was, is)).toEqual(lines))
})

test('references are followed, also where a schema has itself as a part', () => {
  const document = { components: { schemas: { Node: object({ next: { $ref: '#/components/schemas/Node' }, name: string }) } } }
  const surface: Surface = surfaceOf({ $ref: '#/components/schemas/Node' }, 'node', 'output', document)
  expect(Object.keys(surface)).toEqual(['node', 'node.name'])
})

describe('what is declared', () => {
  const WAS = `export interface Options {
    readonly name: string;
    readonly wait?: {
        readonly seconds: number;
    };
}
export type Colour = 'red' | 'green';
type Reply = Promise<Colour>;
export declare class Client {
    constructor(options: Options);
    ask(question: string): Reply;
}
export declare function first(list: readonly string[]): string;
`
  const declared = (text: string): Surface =>
    declarationSurface(
      new Map([
        ['client/src/index.d.ts', "export { type Colour, type Options, Client, first, } from './parts.ts';\nexport {};\n"],
        ['client/src/parts.d.ts', text],
      ]),
      ['client/src/index.ts'],
    )

  test('is what the entry exports, and what that names', () => {
    expect(Object.keys(declared(`${WAS}export declare const inside: string;\n`)).toSorted()).toEqual([
      ...['Client', 'Client.ask', 'Client.constructor', 'Colour', 'Options', 'Options.name'],
      ...['Options.wait', 'Options.wait.seconds', 'client/Reply', 'first'],
    ])
  })

  test.each<[string, from: string, to: string, readonly string[]]>([
    ['may get a further optional member', 'readonly name: string;', 'readonly name: string;\n    more?: 1;', []],
    ['may get a further value', "'red' |", "'blue' | 'red' |", []],
    ['may get a further method', 'ask(', 'tell(): void;\n    ask(', []],
    [
      'may get a further overload',
      'export declare function first(',
      'export declare function first(one: string): string;\nexport declare function first(',
      [],
    ],
    [
      'demands no further member',
      'readonly name: string;',
      'readonly name: string;\n    more: 1;',
      ['Options.more is new and required'],
    ],
    ['demands no member', 'wait?:', 'wait:', ['Options.wait was optional and is required']],
    ['loses no member', '    readonly name: string;\n', '', ['Options.name was removed']],
    ['loses no method', '    ask(question: string): Reply;\n', '', ['Client.ask was removed', 'client/Reply was removed']],
    ['loses no export', 'export declare function first', 'declare function last', ['first was removed']],
    ['loses no value', "'red' | ", '', ["Colour is not declared as type Colour = 'red' any more"]],
    [
      'is declared as it was',
      'ask(question: string)',
      'ask(question: number)',
      ['Client.ask is not declared as ask(question: string): Reply any more'],
    ],
    [
      'is declared as it was, also where it is not exported',
      'Promise<Colour>',
      'Promise<string | Colour>',
      ['client/Reply is not declared as type Reply = Promise<Colour> any more'],
    ],
  ])('%s', (_, from, to, lines) => {
    expect(WAS).toContain(from)
    expect(lost(declared(WAS), declared(WAS.replace(from, to)))).toEqual(lines)
  })
})

describe('what may be written on a command line', () => {
  const program = (change: (find: Command) => void = () => {}): Surface => {
    const find = new Command('find')
      .argument('<what>')
      .option('-a, --all')
      .addOption(new Option('--in <place>').choices(['here', 'there']))
    change(find)
    return commandLineSurface(new Command('rollcall').addCommand(find))
  }

  test('is commands, arguments and options', () => {
    expect(Object.entries(program()).map(([path, { required, types }]) => [path, required, types])).toEqual([
      ['rollcall', false, ['object']],
      ['rollcall find', false, ['object']],
      ['rollcall find.<1>', true, ['string']],
      ['rollcall find.-a', false, ['boolean']],
      ['rollcall find.--all', false, ['boolean']],
      ['rollcall find.--in', false, ['"here"', '"there"']],
    ])
  })

  test('may get further options and arguments, and loses none', () => {
    const more = program((find) => find.option('--more <n>').argument('[where]').requiredOption('--by <who>'))
    expect(lost(program(), more)).toEqual(['rollcall find.--by is new and required'])
    expect(lost(more, program())).toEqual([
      'rollcall find.<2> was removed',
      'rollcall find.--more was removed',
      'rollcall find.--by was removed',
    ])
    const without = commandLineSurface(new Command('rollcall'))
    expect(lost(program(), without)).toContain('rollcall find was removed')
  })

  test('takes the values that it took', () => {
    const narrower = commandLineSurface(
      new Command('rollcall').addCommand(
        new Command('find')
          .argument('<what>')
          .option('-a, --all <which>')
          .addOption(new Option('--in <place>').choices(['here'])),
      ),
    )
    expect(lost(program(), narrower)).toEqual([
      'rollcall find.-a does not take boolean any more',
      'rollcall find.--all does not take boolean any more',
      'rollcall find.--in does not take "there" any more',
    ])
  })
})
