/**
 * Column names that mean an attribute or identifier type, in English, French, Spanish and Portuguese. They are compared
 * without case, accents and separators. The names and aliases that attributes and types have themselves need no row.
 */

export const ATTRIBUTE_COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = {
  given_name: [
    ...['given names', 'first names', 'forename', 'forenames', 'fname'],
    ...['prénom', 'prénoms', 'nombres', 'nombre de pila', 'primer nombre', 'nome próprio', 'primeiro nome'],
  ],
  surname: [
    ...['family names', 'last names', 'lname', 'nom', 'nom de famille', 'apellido', 'apellidos'],
    ...['primer apellido', 'sobrenome', 'apelido'],
  ],
  second_name: ['middle name', 'middle names', 'other names', 'deuxième prénom', 'segundo nombre', 'segundo nome'],
  sex: ['sexe', 'sexo', 'genre', 'género', 'gênero'],
  birth_date: [
    ...['dob', 'd.o.b.', 'birthday', 'born', 'born on', 'date de naissance', 'né le', 'naissance'],
    ...['fecha de nacimiento', 'fecha nacimiento', 'fec nac', 'nacimiento', 'data de nascimento', 'nascimento'],
  ],
  death_date: [
    ...['dod', 'died', 'died on', 'date de décès', 'décès', 'fecha de defunción', 'fecha de fallecimiento'],
    ...['data de óbito', 'data do óbito'],
  ],
  birth_place: ['lieu de naissance', 'lugar de nacimiento', 'local de nascimento', 'naturalidade'],
  marital_status: [
    ...['civil status', 'marital', 'état civil', 'situation matrimoniale', 'situation familiale'],
    ...['estado civil'],
  ],
  divorce_date: ['divorced', 'divorced on', 'date de divorce', 'fecha de divorcio', 'data de divórcio'],
  marriage_date: ['married', 'married on', 'date de mariage', 'fecha de matrimonio', 'data de casamento'],
  phone_number: [
    ...['phone', 'phones', 'phone no', 'telephone', 'telephone number', 'tel', 'tel no', 'mobile', 'mobile no'],
    ...['cell', 'cell phone', 'cellphone', 'msisdn', 'téléphone', 'numéro de téléphone', 'portable'],
    ...['teléfono', 'número de teléfono', 'celular', 'móvil', 'telefone', 'telemóvel'],
  ],
  email: ['e-mail', 'mail', 'email address', 'e-mail address', 'courriel', 'adresse e-mail', 'correo', 'correo electrónico'],
  postal_code: ['zip', 'post code', 'code postal', 'código postal', 'cep'],
  location: ['town', 'village', 'locality', 'ville', 'commune', 'ciudad', 'municipio', 'cidade', 'município'],
  region: ['région', 'región', 'região', 'state', 'provincia', 'província'],
  district: ['county', 'département', 'distrito', 'departamento'],
  country: ['pays', 'país'],
  registration_date: ['registered', 'registered on', "date d'enregistrement", 'fecha de registro', 'data de registro'],
  group_size: ['household members', 'taille du ménage', 'tamaño del hogar', 'tamanho do agregado'],
  is_disabled: ['disability', 'has disability', 'handicap', 'discapacidad', 'deficiência'],
}

export const IDENTIFIER_COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = {
  NID: [
    ...['national id number', 'national id no', 'national identity number', 'national identification number'],
    ...['national no', 'national number', 'id number', 'id no', 'id card number', 'numéro national'],
    ...["numéro d'identité", 'nni', 'cni'],
    ...['cédula', 'cédula de identidad', 'documento de identidad', 'dni', 'bilhete de identidade', 'nif'],
  ],
  UIN: ['unique identification number', 'unique id', 'unique identity number'],
  BRN: [
    ...['birth no', 'birth certificate no', 'birth certificate number', 'birth registration number'],
    ...['acte de naissance'],
  ],
  MRN: ['marriage no', 'marriage certificate no', 'marriage registration number'],
  DRN: ['death no', 'death certificate no', 'death registration number'],
  HOUSEHOLD_ID: ['household id', 'household number', 'hh id', 'id ménage', 'id del hogar'],
  FARMER_ID: ['farmer number', 'farmer no'],
}

/** Column names for a whole name. Records have the parts of a name at paths of their own, such as given name and surname. */
export const WHOLE_NAME_COLUMNS: readonly string[] = [
  ...['name', 'full name', 'fullname', 'complete name', 'nom complet', 'nom et prénom', 'nom et prénoms'],
  ...['nombre', 'nombre completo', 'nombres y apellidos', 'nome', 'nome completo'],
]

/** Column names for an age, from which no date of birth can be known. */
export const AGE_COLUMNS: readonly string[] = ['age', 'âge', 'edad', 'idade']

/** By code list: the code that an international standard gives to each number. The numbers of a file may mean other codes. */
export const STANDARD_CODES: Readonly<Record<string, { readonly codes: ReadonlyMap<string, string>; readonly source: string }>> =
  { sex: { codes: new Map(Object.entries({ 0: 'unknown', 1: 'male', 2: 'female' })), source: 'ISO/IEC 5218' } }
/** By code list: words of other languages, each with its code. */
export const CODE_TRANSLATIONS: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  sex: new Map(
    Object.entries({
      h: 'male',
      homme: 'male',
      masculin: 'male',
      hombre: 'male',
      masculino: 'male',
      homem: 'male',
      femme: 'female',
      féminin: 'female',
      mujer: 'female',
      femenino: 'female',
      feminino: 'female',
      mulher: 'female',
    }),
  ),
}
