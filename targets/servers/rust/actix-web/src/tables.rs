//! Access to the tables World and Fortune through a deadpool pool of tokio-postgres connections, one pool per thread.

use actix_web::error::ErrorInternalServerError;
use actix_web::{HttpResponse, Result, web};
use askama::Template;
use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, RecyclingMethod};
use futures_util::future::try_join_all;
use rand::random_range;
use serde::Serialize;
use std::collections::HashMap;
use std::env;
use std::error::Error;
use tokio_postgres::NoTls;

use crate::ok;

const ROWS: i32 = 10_000;
const ROWS_MAX: usize = 500;
const SELECT_ROW: &str = "SELECT id, randomnumber FROM world WHERE id = $1";
const UPDATE_ROW: &str = "UPDATE world SET randomnumber = $2 WHERE id = $1";

/// The random number of each row of World by the row's id, for the test that allows caching.
type Cache = HashMap<i32, i32>;

#[derive(Serialize)]
struct World {
    id: i32,
    #[serde(rename = "randomNumber")]
    random_number: i32,
}

struct Fortune {
    id: i32,
    message: String,
}

#[derive(Template)]
#[template(
    ext = "html",
    source = "<!doctype html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>\
              {% for fortune in fortunes %}<tr><td>{{ fortune.id }}</td><td>{{ fortune.message }}</td></tr>{% endfor %}\
              </table></body></html>"
)]
struct Page {
    fortunes: Vec<Fortune>,
}

#[derive(serde::Deserialize)]
struct Queries {
    #[serde(default)]
    queries: String,
    #[serde(default)]
    count: String,
}

/// The database at `DATABASE_URL`, with the rows that the test of caching reads from memory.
#[derive(Clone)]
pub struct Tables {
    url: String,
    cache: web::Data<Cache>,
}

impl Tables {
    /// Connects to the database and reads the rows to cache.
    pub async fn from_env() -> std::result::Result<Self, Box<dyn Error>> {
        let url = env::var("DATABASE_URL")?;
        let client = pool(&url).get().await?;
        let rows = client
            .query("SELECT id, randomnumber FROM world", &[])
            .await?;
        let cache: Cache = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        Ok(Self {
            url,
            cache: web::Data::new(cache),
        })
    }

    pub fn configure(&self, app: &mut web::ServiceConfig) {
        app.app_data(web::Data::new(pool(&self.url)))
            .app_data(self.cache.clone())
            .service(web::resource("/db").get(db).head(db))
            .service(web::resource("/queries").get(queries).head(queries))
            .service(web::resource("/updates").get(updates).head(updates))
            .service(web::resource("/fortunes").get(fortunes).head(fortunes))
            .service(web::resource("/cached-queries").get(cached).head(cached));
    }
}

fn pool(url: &str) -> Pool {
    let config = url.parse().expect("DATABASE_URL must be a URL");
    let recycling_method = RecyclingMethod::Fast;
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method });
    Pool::builder(manager)
        .build()
        .expect("a pool without timeouts requires no runtime")
}

async fn client(pool: &Pool) -> Result<Client> {
    pool.get().await.map_err(ErrorInternalServerError)
}

fn random_row() -> i32 {
    random_range(1..=ROWS)
}

fn row_count(text: &str) -> usize {
    text.parse::<usize>().unwrap_or(1).clamp(1, ROWS_MAX)
}

/// Reads random rows with one query per row. The queries are sent without waiting for each other's results.
async fn read(client: &Client, count: usize) -> Result<Vec<World>> {
    let statement = client
        .prepare_cached(SELECT_ROW)
        .await
        .map_err(ErrorInternalServerError)?;
    let ids: Vec<i32> = (0..count).map(|_| random_row()).collect();
    let rows = try_join_all(ids.iter().map(|id| async {
        let row = client.query_one(&statement, &[id]).await?;
        Ok::<_, tokio_postgres::Error>(World {
            id: row.get(0),
            random_number: row.get(1),
        })
    }));
    rows.await.map_err(ErrorInternalServerError)
}

/// Writes new random numbers in the order of the rows' ids, so that concurrent requests can't deadlock.
async fn write(client: &Client, rows: &mut [World]) -> Result<()> {
    let statement = client
        .prepare_cached(UPDATE_ROW)
        .await
        .map_err(ErrorInternalServerError)?;
    rows.sort_by_key(|row| row.id);
    for row in rows.iter_mut() {
        row.random_number = random_row();
    }
    let updates = rows.iter().map(|row| async {
        client
            .execute(&statement, &[&row.id, &row.random_number])
            .await
    });
    try_join_all(updates)
        .await
        .map_err(ErrorInternalServerError)?;
    Ok(())
}

async fn db(pool: web::Data<Pool>) -> Result<HttpResponse> {
    let rows = read(&client(&pool).await?, 1).await?;
    Ok(ok().json(&rows[0]))
}

async fn queries(pool: web::Data<Pool>, asked: web::Query<Queries>) -> Result<HttpResponse> {
    let rows = read(&client(&pool).await?, row_count(&asked.queries)).await?;
    Ok(ok().json(rows))
}

async fn updates(pool: web::Data<Pool>, asked: web::Query<Queries>) -> Result<HttpResponse> {
    let client = client(&pool).await?;
    let mut rows = read(&client, row_count(&asked.queries)).await?;
    write(&client, &mut rows).await?;
    Ok(ok().json(rows))
}

async fn cached(cache: web::Data<Cache>, asked: web::Query<Queries>) -> Result<HttpResponse> {
    let rows: Vec<World> = (0..row_count(&asked.count))
        .map(|_| random_row())
        .map(|id| World {
            id,
            random_number: cache[&id],
        })
        .collect();
    Ok(ok().json(rows))
}

async fn fortunes(pool: web::Data<Pool>) -> Result<HttpResponse> {
    let client = client(&pool).await?;
    let statement = client
        .prepare_cached("SELECT id, message FROM fortune")
        .await
        .map_err(ErrorInternalServerError)?;
    let rows = client
        .query(&statement, &[])
        .await
        .map_err(ErrorInternalServerError)?;
    let mut fortunes: Vec<Fortune> = rows
        .iter()
        .map(|row| Fortune {
            id: row.get(0),
            message: row.get(1),
        })
        .collect();
    fortunes.push(Fortune {
        id: 0,
        message: "Additional fortune added at request time.".to_owned(),
    });
    fortunes.sort_by(|one, other| one.message.cmp(&other.message));
    let page = Page { fortunes }
        .render()
        .map_err(ErrorInternalServerError)?;
    Ok(ok().content_type("text/html; charset=utf-8").body(page))
}
