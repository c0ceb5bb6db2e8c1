//! Lists of forms that have to name something: a file, or what is started.

use serde::{Deserialize, Deserializer, de};

use super::form::{Form, Slot};

/// Reads forms that say which words are files.
pub(super) fn file_forms<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Form>, D::Error> {
    let forms = Vec::<FileForm>::deserialize(deserializer)?;
    Ok(forms.into_iter().map(|FileForm(form)| form).collect())
}

/// Reads forms that say what is started.
pub(super) fn start_forms<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Form>, D::Error> {
    let forms = Vec::<StartForm>::deserialize(deserializer)?;
    Ok(forms.into_iter().map(|StartForm(form)| form).collect())
}

/// A form in which a word is a file.
struct FileForm(Form);

impl<'de> Deserialize<'de> for FileForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        if form.has_slot(|slot| slot == Slot::File) {
            return Ok(Self(form));
        }
        Err(de::Error::custom(
            "the form does not say which word is the file: write FILE there, as in `-o|--output=FILE`",
        ))
    }
}

/// A form in which a word is started.
struct StartForm(Form);

impl<'de> Deserialize<'de> for StartForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        if form.has_slot(|slot| !matches!(slot, Slot::File | Slot::Inside)) {
            return Ok(Self(form));
        }
        Err(de::Error::custom(
            "the form does not say what is started: write one of COMMAND, LINE, INPUT, BYTE, PROGRAM, SHELL, CODE, \
             SQL, REDIS, MONGO, SETTING, KEY and VARIABLE there, as in `exec -- COMMAND`",
        ))
    }
}
