/**
 * The code lists of the public standard (public-standard.md 2.1), each code with its spellings. `normaliseCode` makes
 * codes comparable with them, and the schemas of records document them.
 */
import { foldCase, normaliseToNfc } from '../attributes/text.ts'

/** One code: the code, its label, and other spellings. All are compared by `toComparableSpelling`. */
export type Code = readonly [code: string, label: string, ...spellings: string[]]

/** Lists about people: who they are, how they live and work. */
const PEOPLE_CODE_LISTS = {
  sex: [
    ['male', 'male', 'm', 'man'],
    ['female', 'female', 'f', 'woman'],
    ['other', 'other', 'o'],
    ['unknown', 'unknown', 'u', 'not known'],
  ],
  marital_status: [
    ['S', 'never married', 'single'],
    ['M', 'married'],
    ['W', 'widow', 'widowed', 'widower'],
    ['A', 'annulled'],
    ['D', 'divorced'],
    ['L', 'legally separated', 'separated'],
    ['U', 'unmarried'],
  ],
  employment_status: [
    ['1', 'employed'],
    ['2', 'not employed', 'unemployed'],
    ['3', 'unknown'],
    ['4', 'paid: employee', 'employee', 'paid employee'],
    ['5', 'self: employer', 'employer'],
    ['6', 'self: own-account', 'own-account', 'self-employed'],
    ['7', 'self: cooperative member', 'cooperative member'],
    ['8', 'self: contributing family worker', 'contributing family worker'],
  ],
  employment_type: [
    ['1', 'permanent'],
    ['2', 'fixed-term'],
    ['3', 'casual'],
    ['4', 'seasonal'],
    ['5', 'apprentice, trainee, intern', 'apprentice', 'trainee', 'intern'],
  ],
  unemployment_reason: [
    ['1', 'dismissed or redundant', 'dismissed', 'redundant'],
    ['2', 'limited job ended'],
    ['3', 'personal or family', 'personal', 'family'],
    ['4', 'illness or disability', 'illness', 'disability'],
    ['5', 'education or training', 'education', 'training'],
    ['6', 'retirement', 'retired'],
    ['7', 'military or community service'],
    ['8', 'other'],
  ],
  occupation: [
    ['0', 'armed forces'],
    ['1', 'manager', 'managers'],
    ['2', 'professional', 'professionals'],
    ['3', 'technician', 'technicians'],
    ['4', 'clerical', 'clerk'],
    ['5', 'service or sales', 'service', 'sales'],
    ['6', 'agricultural', 'agriculture'],
    ['7', 'craft'],
    ['8', 'machine operator'],
    ['9', 'elementary'],
  ],
  education_level: [
    ['0', 'early childhood'],
    ['1', 'primary'],
    ['2', 'lower secondary'],
    ['3', 'upper secondary'],
    ['4', 'post-secondary non-tertiary'],
    ['5', 'short-cycle tertiary'],
    ['6', 'bachelor'],
    ['7', 'master'],
    ['8', 'doctorate'],
  ],
  functional_limitation_type: [
    ['VIS_SS', 'vision', 'seeing'],
    ['HEAR_SS', 'hearing'],
    ['MOB_SS', 'mobility', 'walking'],
    ['COG_SS', 'cognition', 'remembering'],
    ['SC_SS', 'self-care'],
    ['COM_SS', 'communication', 'communicating'],
  ],
  functional_severity: [
    ['1', 'no difficulty', 'no', 'none'],
    ['2', 'some difficulty', 'some'],
    ['3', 'a lot of difficulty', 'a lot'],
    ['4', 'cannot do at all', 'cannot'],
  ],
  relationship_type: [
    ['SELF', 'self'],
    ['SPS', 'spouse'],
    ['HUSB', 'husband'],
    ['WIFE', 'wife'],
    ['DOMPART', 'domestic partner', 'partner'],
    ['CHILD', 'child'],
    ['SON', 'son'],
    ['DAU', 'daughter'],
    ['CHILDADOPT', 'adopted child'],
    ['STPCHILD', 'stepchild'],
    ['GRNDCHILD', 'grandchild'],
    ['PRN', 'parent'],
    ['FTH', 'father'],
    ['MTH', 'mother'],
    ['SIB', 'sibling'],
    ['BRO', 'brother'],
    ['SIS', 'sister'],
    ['GRPRN', 'grandparent'],
    ['EXT', 'extended family member'],
    ['FAMMEMB', 'family member'],
  ],
} as const satisfies Record<string, readonly Code[]>

/** Lists about groups, programmes and benefits. */
const PROGRAMME_CODE_LISTS = {
  /** This list is also used for `assistance_unit` of a beneficiary. Older lists have other numbers, which we do not translate. */
  group_type: [
    ['1', 'member', 'individual'],
    ['2', 'household'],
    ['3', 'family'],
  ],
  ess_enrolment_status: [
    ['1', 'active'],
    ['2', 'deceased'],
    ['3', 'exited'],
    ['4', 'suspended'],
    ['5', 'inactive'],
    ['6', 'reinstated'],
    ['7', 'awaiting renewal'],
  ],
  ibr_enrolment_status: [
    ['1', 'active'],
    ['2', 'deceased'],
    ['3', 'graduated'],
    ['4', 'suspended'],
  ],
  benefit_type: [
    ['1', 'cash'],
    ['2', 'voucher'],
    ['3', 'in-kind'],
    ['4', 'training'],
    ['5', 'work opportunity'],
    ['6', 'insurance'],
  ],
  institution_type: [
    ['1', 'public'],
    ['2', 'private'],
    ['3', 'international organisation'],
    ['4', 'NGO'],
    ['5', 'CSO'],
    ['6', 'religious'],
    ['7', 'philanthropy'],
    ['8', 'other'],
  ],
} as const satisfies Record<string, readonly Code[]>

/** Lists of the disability and farmer registries. */
const DISABILITY_AND_FARMER_LISTS = {
  disability_status: [
    ['0', 'approved'],
    ['1', 'pending'],
    ['2', 'expired'],
  ],
  disability_level: [
    ['1', 'high support needs'],
    ['2', 'severe'],
    ['3', 'moderate'],
    ['4', 'mild'],
  ],
  impairment_type: [
    ['1', 'vision', 'visual', 'VIS_SS'],
    ['2', 'hearing', 'HEAR_SS'],
    ['3', 'mobility', 'MOB_SS'],
    ['4', 'cognitive', 'COG_SS'],
    ['5', 'speech', 'COM_SS'],
    ['6', 'mental'],
  ],
  impairment_level: [
    ['1', 'mild'],
    ['2', 'moderate'],
    ['3', 'severe'],
    ['4', 'extreme'],
  ],
  impairment_cause: [
    ['0', 'congenital'],
    ['1', 'birth complication'],
    ['2', 'illness'],
    ['3', 'domestic accident', 'domestic'],
    ['4', 'road accident', 'road'],
    ['5', 'work accident', 'work'],
    ['6', 'violence'],
    ['7', 'armed conflict'],
    ['8', 'ageing'],
  ],
  impairment_onset: [
    ['0', 'born with'],
    ['1', 'childhood'],
    ['2', 'working age'],
    ['3', 'old age'],
  ],
  transport_requirement: [
    ['0', 'public'],
    ['1', 'point to point'],
    ['2', 'adaptable vehicle'],
  ],
  housing_type: [
    ['1', 'own or rent', 'own', 'rent'],
    ['2', 'relatives'],
    ['3', 'social housing'],
    ['4', 'care institution'],
  ],
  /** The public list has only the first and last code; the others are from the FAO's Indicative Crop Classification. */
  crop_type: [
    ['1', 'cereals', 'cereal'],
    ['2', 'vegetables and melons', 'vegetables'],
    ['3', 'fruit and nuts', 'fruit'],
    ['4', 'oilseed crops', 'oilseeds'],
    ['5', 'root and tuber crops', 'roots and tubers'],
    ['6', 'beverage and spice crops', 'spices'],
    ['7', 'leguminous crops', 'legumes', 'pulses'],
    ['8', 'sugar crops', 'sugar'],
    ['9', 'other', 'other crops'],
  ],
  area_unit: [
    ['H', 'hectare', 'ha'],
    ['AC', 'acre'],
    ['SQM', 'square metre'],
    ['SQKM', 'square kilometre'],
    ['SQF', 'square foot'],
    ['SQY', 'square yard'],
    ['DU', 'dunam'],
  ],
} as const satisfies Record<string, readonly Code[]>

/** All lists by name. The lists are open: records may have other values. */
export const CODE_LISTS = { ...PEOPLE_CODE_LISTS, ...PROGRAMME_CODE_LISTS, ...DISABILITY_AND_FARMER_LISTS }

export type CodeListName = keyof typeof CODE_LISTS

/** Returns the text by which spellings of a name are compared: without case, and with a space in place of "_" and "-". */
const toComparableSpelling = (text: string) => foldCase(text.trim()).replace(/[\s_-]+/g, ' ')

const codesBySpelling = new Map<CodeListName, ReadonlyMap<string, string>>()
for (const name of Object.keys(CODE_LISTS) as CodeListName[]) {
  const codes = new Map<string, string>()
  for (const [code, ...spellings] of CODE_LISTS[name] as readonly Code[]) {
    for (const spelling of [code, ...spellings]) codes.set(spelling, code).set(toComparableSpelling(spelling), code)
  }
  codesBySpelling.set(name, codes)
}

/**
 * The canonical code for `raw`: "F", "FeMale" and "spdci:female" are all `female`. A value that is not in the list is
 * trimmed, composed (NFC) and case-folded, so that it can be found. Null when nothing is left.
 */
export function normaliseCode(list: CodeListName, raw: string): string | null {
  const codes = codesBySpelling.get(list)
  const known =
    codes?.get(raw) ??
    codes?.get(toComparableSpelling(raw)) ??
    codes?.get(toComparableSpelling(raw.slice(raw.lastIndexOf(':') + 1)))
  if (known !== undefined) return known
  return foldCase(normaliseToNfc(raw).trim()) || null
}

/** True when a normalised value is a code of the list. */
export const isListedCode = (list: CodeListName, code: unknown): boolean =>
  typeof code === 'string' && codesBySpelling.get(list)?.get(code) === code

/** The label of a canonical code, such as `Awaiting Renewal`; undefined when the list does not have the code. */
export function codeLabel(list: CodeListName, code: string): string | undefined {
  const label = (CODE_LISTS[list] as readonly Code[]).find(([one]) => one === code)?.[1]
  return label?.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}
