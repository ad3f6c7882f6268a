//! Tests that the documentation of the program is complete and up to date.

use std::collections::BTreeSet;

use clap::CommandFactory;
use loadgen::cli::Args;
use loadgen::figures::result::json_schema;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../schema/httpbench-loadgen-1.schema.json");
const MANUAL: &str = include_str!("../../../../docs/load-generators.md");

#[test]
fn the_committed_schema_is_current() {
    let hint = "regenerate it: httpbench-loadgen --json-schema > crates/loadgen/schema/httpbench-loadgen-1.schema.json";
    assert_eq!(SCHEMA.trim(), json_schema().trim(), "{hint}");
}

#[test]
fn every_option_is_documented() {
    let missing: Vec<_> = Args::command()
        .get_arguments()
        .filter_map(|argument| argument.get_long())
        .filter(|name| !MANUAL.contains(&format!("`--{name}")))
        .map(str::to_owned)
        .collect();
    assert!(missing.is_empty(), "docs/load-generators.md doesn't mention {missing:?}");
}

#[test]
fn every_field_is_documented() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut fields = BTreeSet::new();
    collect_fields(&schema, &mut fields);
    assert!(fields.len() > 60, "the schema has too few fields: {fields:?}");
    let missing: Vec<_> = fields.iter().filter(|field| !MANUAL.contains(&format!("`{field}`"))).collect();
    assert!(missing.is_empty(), "docs/load-generators.md doesn't mention {missing:?}");
}

fn collect_fields(schema: &Value, fields: &mut BTreeSet<String>) {
    let Value::Object(map) = schema else { return };
    for (key, value) in map {
        if let ("properties", Value::Object(properties)) = (key.as_str(), value) {
            fields.extend(properties.keys().cloned());
        }
        collect_fields(value, fields);
    }
}
