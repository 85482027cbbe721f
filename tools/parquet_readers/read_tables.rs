//! Reads all files of a table with the crate parquet: `read_tables < files.json > answer.json`, as read_tables.py does.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;
use std::fs::File;

#[derive(Default)]
struct Column {
    rows: i64,
    known: i64,
    total: Option<i128>,
}

fn main() {
    let tables: BTreeMap<String, Vec<String>> = serde_json::from_reader(std::io::stdin()).unwrap();
    let mut answers = Map::new();
    for (table, paths) in tables {
        let mut found: BTreeMap<String, Column> = BTreeMap::new();
        for path in paths {
            add(&mut found, &path);
        }
        let told = found.into_iter().map(|(name, each)| {
            // Sums are beyond what a number of this library holds.
            let total = each.total.map(|sum| format!("#{sum}#"));
            (name, json!([each.rows, each.known, total]))
        });
        answers.insert(table, Value::Object(told.collect()));
    }
    println!("{}", Value::Object(answers).to_string().replace("\"#", "").replace("#\"", ""));
}

fn add(found: &mut BTreeMap<String, Column>, path: &str) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    for field in reader.metadata().file_metadata().schema_descr().columns() {
        found.entry(field.name().to_string()).or_default();
    }
    for row in reader.get_row_iter(None).unwrap() {
        for (name, value) in row.unwrap().get_column_iter() {
            let column = found.get_mut(name).unwrap();
            column.rows += 1;
            column.known += i64::from(!matches!(value, Field::Null));
            if let Some(whole) = whole(value) {
                *column.total.get_or_insert(0) += whole;
            }
        }
    }
}

fn whole(value: &Field) -> Option<i128> {
    match value {
        Field::Byte(n) => Some((*n).into()),
        Field::Short(n) => Some((*n).into()),
        Field::Int(n) => Some((*n).into()),
        Field::Long(n) => Some((*n).into()),
        _ => None,
    }
}
