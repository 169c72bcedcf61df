/**
 * Parts of invented names. A culture has beginnings and endings that are joined into names, so that the letters and
 * accents of a script occur without a list of real names.
 */

type NamePartList = readonly [string, ...string[]]

export interface Culture {
  readonly name: string
  /** The chance, in percent, that a household has this culture. */
  readonly weight: number
  readonly openings: NamePartList
  readonly female: NamePartList
  readonly male: NamePartList
  readonly surnames: { readonly openings: NamePartList; readonly endings: NamePartList }
  /** True when names have accented letters. Half of the households of such a culture write accents as combining characters. */
  readonly accented?: true
}

export const CULTURES: readonly Culture[] = [
  {
    name: 'plain Latin',
    weight: 50,
    openings: ['Ab', 'Bel', 'Cor', 'Dan', 'El', 'Fen', 'Gal', 'Han', 'Jor', 'Kel', 'Lum', 'Mar', 'Nov', 'Ros', 'Tal'],
    female: ['ela', 'ina', 'ora', 'isa', 'una', 'abeth', 'ine', 'eya'],
    male: ['on', 'ek', 'im', 'oro', 'as', 'in', 'ulo', 'eth'],
    surnames: {
      openings: ['Ash', 'Bor', 'Cal', "D'Or", 'Esk', 'Fol', 'Gar', 'Hol', 'Ken', 'Lor', 'Mc', 'Ok', 'Tam', 'Van der ', 'Wes'],
      endings: ['dane', 'emi', 'ford', 'ica', 'lund', 'mere', 'onya', 'rell', 'tano', 'wick-Sol', 'zara', 'by'],
    },
  },
  {
    name: 'accented Latin',
    weight: 15,
    openings: ['Ań', 'Bé', 'Chị', 'Đo', 'Fã', 'Ğü', 'Jö', 'Lê', 'Ñu', 'Øl', 'Ọl', 'Šá', 'Thể', 'Żó'],
    female: ['léa', 'nàh', 'rẹ́', 'sia', 'vį', 'zoë'],
    male: ['bö', 'dín', 'gọ́', 'kūl', 'mås', 'tér'],
    surnames: {
      openings: ['Ací', 'Bră', 'Çel', 'Đặ', 'Ẹgb', 'Façõ', 'Gră', 'Íń', 'Łuk', 'Muñ', 'Ọdẹ́', 'Šve'],
      endings: ['ářová', 'bà', 'deş', 'ñez', 'ộng', 'ówna', 'sson-Åse', 'yếm'],
    },
    accented: true,
  },
  {
    name: 'Arabic',
    weight: 7,
    openings: ['با', 'تا', 'جو', 'دا', 'را', 'سو', 'شا', 'عا', 'فو', 'كا', 'لو', 'نا'],
    female: ['مينة', 'رية', 'سمة', 'ليا', 'دينا'],
    male: ['زير', 'مون', 'سد', 'هيم', 'كان'],
    surnames: {
      openings: ['ال', 'أبو ', 'بن ', 'آل '],
      endings: ['برزان', 'تلمود', 'جوران', 'دمشار', 'سفرين', 'عزيكان', 'قنطار', 'نورسا'],
    },
  },
  {
    name: 'Devanagari',
    weight: 7,
    openings: ['अ', 'का', 'गौ', 'चि', 'ज्ञा', 'ता', 'दी', 'प्र', 'मो', 'रा', 'वि', 'श्रे'],
    female: ['निता', 'मिका', 'रुणा', 'लिया', 'षिका'],
    male: ['जेश', 'तान', 'निल', 'वेंद्र', 'हुल'],
    surnames: { openings: ['खा', 'घो', 'ठा', 'धी', 'बा', 'भं', 'सू', 'हे'], endings: ['तवाल', 'दकर', 'मरी', 'रानी', 'लेकर', 'ष्टी'] },
  },
  {
    name: 'Cyrillic',
    weight: 8,
    openings: ['Ал', 'Бор', 'Вер', 'Да', 'Ждан', 'Зо', 'Йор', 'Лю', 'Ми', 'Рад', 'Све', 'Яр'],
    female: ['ана', 'ёна', 'ислава', 'ия', 'ослана'],
    male: ['ан', 'ей', 'имир', 'ослав', 'уш'],
    surnames: {
      openings: ['Бере', 'Вел', 'Гриц', 'Жур', 'Їж', 'Ковш', 'Лун', 'Щед'],
      endings: ['енко', 'ий', 'иків', 'ук', 'ьчак', 'юра'],
    },
  },
  {
    name: 'Ethiopic',
    weight: 7,
    openings: ['ሀ', 'ለ', 'መ', 'ሰ', 'ረ', 'በ', 'ተ', 'ነ', 'አ', 'ከ', 'ወ', 'ገ'],
    female: ['ሚና', 'ሪያ', 'ቲቱ', 'ናሽ', 'ለምቱ'],
    male: ['ብራ', 'ድነህ', 'ምሩ', 'ስፋ', 'ጋሻ'],
    surnames: { openings: ['ሁ', 'ሙ', 'ሱ', 'ቡ', 'ቱ', 'ኑ', 'ዙ', 'ጉ'], endings: ['ለታ', 'መራ', 'ረዳ', 'ሰንበት', 'ባቸው', 'ዳሙ'] },
  },
  {
    name: 'Han',
    weight: 6,
    openings: ['安', '博', '春', '丹', '方', '光', '海', '锦', '兰', '明', '清', '文'],
    female: ['雅', '玉琳', '梅', '思雨', '霞'],
    male: ['强', '志远', '峰', '国梁', '涛'],
    // One character, `𠮷`, is outside of the Basic Multilingual Plane: two units of UTF-16.
    surnames: { openings: ['松', '柏', '𠮷', '泉', '岳', '石'], endings: ['', '田', '原', '川'] },
  },
]

/** A list of one hundred entries, which has each culture as often as its weight. A random number below 100 chooses one. */
const CULTURES_BY_PERCENT: readonly Culture[] = CULTURES.flatMap((culture) => Array<Culture>(culture.weight).fill(culture))

/** Returns the culture for a number from 0 to 99. Each culture has as many of these numbers as its weight. */
export function cultureAtPercent(place: number): Culture {
  const culture = CULTURES_BY_PERCENT[place]
  if (culture === undefined) throw new RangeError(`culture place must be 0 to ${CULTURES_BY_PERCENT.length - 1}, not ${place}`)
  return culture
}
