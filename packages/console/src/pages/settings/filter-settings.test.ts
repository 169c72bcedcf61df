import { expect, it } from 'vitest'
import { filterSettings, valueText } from './filter-settings.ts'

const PORT = { variable: 'PORT', meaning: 'port on which peers reach the server', kind: 'option', source: 'environment' }
const BODY = { variable: 'ROLLCALL_MAX_UPLOAD_BYTES', meaning: 'size of a request body', kind: 'limit', source: 'default' }

it.each([
  [{}, [PORT, BODY]],
  [{ text: 'max body' }, [BODY]],
  [{ text: '  Peers SERVER ' }, [PORT]],
  [{ text: 'peers body' }, []],
  [{ kind: 'limit' }, [BODY]],
  [{ source: 'environment' }, [PORT]],
  [{ text: 'o', kind: 'limit', source: 'environment' }, []],
])('%j shows %j', (filter, shown) => {
  expect(filterSettings([PORT, BODY], filter)).toEqual(shown)
})

it('writes a value with its unit', () => {
  expect([valueText(8_388_608, 'bytes'), valueText('info', null)]).toEqual(['8,388,608 bytes', 'info'])
})
