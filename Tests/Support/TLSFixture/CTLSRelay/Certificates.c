// SPDX-License-Identifier: Apache-2.0
#include "Certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

static const long day = 24 * 60 * 60;
static const char *const any_usage = "serverAuth,clientAuth";

static int add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL) return 0;
    int done = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return done;
}

/// A certificate for `key`, signed by the issuer, or by itself where there is none.
static X509 *make_certificate(
    EVP_PKEY *key, const char *name, const char *hosts, const char *usage, long from, long until, X509 *issuer,
    EVP_PKEY *issuer_key) {
    X509 *certificate = X509_new();
    if (certificate == NULL) return NULL;
    uint32_t serial = 0;
    RAND_bytes((unsigned char *)&serial, sizeof serial);
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), (long)(serial >> 1) + 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), until);
    X509_set_pubkey(certificate, key);
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509 *signer = issuer != NULL ? issuer : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer));
    int done;
    if (hosts == NULL) {
        done = add_extension(certificate, signer, NID_basic_constraints, "critical,CA:TRUE")
            && add_extension(certificate, signer, NID_key_usage, "critical,keyCertSign,cRLSign")
            && add_extension(certificate, signer, NID_subject_key_identifier, "hash");
    } else {
        done = add_extension(certificate, signer, NID_basic_constraints, "critical,CA:FALSE")
            && add_extension(certificate, signer, NID_key_usage, "critical,digitalSignature")
            && add_extension(certificate, signer, NID_ext_key_usage, usage)
            && add_extension(certificate, signer, NID_subject_alt_name, hosts);
    }
    if (!done || X509_sign(certificate, issuer_key != NULL ? issuer_key : key, EVP_sha256()) == 0) {
        X509_free(certificate);
        return NULL;
    }
    return certificate;
}

static int write_pem(X509 *certificate, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return 0;
    int done = PEM_write_X509(file, certificate);
    return fclose(file) == 0 && done;
}

static int write_key(EVP_PKEY *key, const char *path, const char *password) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return 0;
    const EVP_CIPHER *cipher = password != NULL ? EVP_aes_256_cbc() : NULL;
    int length = password != NULL ? (int)strlen(password) : 0;
    int done = PEM_write_PKCS8PrivateKey(file, key, cipher, password, length, NULL, NULL);
    return fclose(file) == 0 && done;
}

static int write_pkcs12(EVP_PKEY *key, X509 *certificate, const char *path, const char *password) {
    PKCS12 *content = PKCS12_create(password, "client", key, certificate, NULL, 0, 0, 0, 0, 0);
    FILE *file = content != NULL ? fopen(path, "w") : NULL;
    int done = file != NULL && i2d_PKCS12_fp(file, content);
    if (file != NULL) done = fclose(file) == 0 && done;
    PKCS12_free(content);
    return done;
}

/// Writes the files of one client: NAME.pem, NAME.key, NAME-locked.key and NAME.p12.
static int write_client(
    const char *folder, const char *name, const char *usage, long until, X509 *issuer, EVP_PKEY *issuer_key) {
    char path[4][1024];
    const char *endings[4] = {".pem", ".key", "-locked.key", ".p12"};
    for (int index = 0; index < 4; index++) snprintf(path[index], 1024, "%s/%s%s", folder, name, endings[index]);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = NULL;
    const char *hosts = "DNS:client.test";
    if (key != NULL) certificate = make_certificate(key, name, hosts, usage, -10 * day, until, issuer, issuer_key);
    int done = certificate != NULL && write_pem(certificate, path[0]) && write_key(key, path[1], NULL)
        && write_key(key, path[2], "secret") && write_pkcs12(key, certificate, path[3], "secret");
    X509_free(certificate);
    EVP_PKEY_free(key);
    return done;
}

static int require_clients(SSL_CTX *context, X509 *root) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    // A session of another fixture must not be resumed.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return SSL_CTX_add_client_CA(context, root) == 1
        && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root) == 1;
}

int certificates_install(SSL_CTX *context, tls_identity identity, const char *ca_path, const char *clients_folder) {
    int done = 0;
    EVP_PKEY *root_key = EVP_EC_gen("P-256");
    EVP_PKEY *other_key = EVP_EC_gen("P-256");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *root = NULL, *other = NULL, *leaf = NULL;
    if (root_key == NULL || other_key == NULL || key == NULL) goto end;
    root = make_certificate(root_key, "Refrain test root", NULL, NULL, -30 * day, 30 * day, NULL, NULL);
    other = make_certificate(other_key, "Unknown test root", NULL, NULL, -30 * day, 30 * day, NULL, NULL);
    if (root == NULL || other == NULL || !write_pem(root, ca_path)) goto end;

    const char *hosts = identity == TLS_IDENTITY_WRONG_HOST
        ? "DNS:wrong.example" : "DNS:localhost,IP:127.0.0.1,IP:::1";
    long from = identity == TLS_IDENTITY_NOT_YET_VALID ? day : -10 * day;
    long until = identity == TLS_IDENTITY_EXPIRED ? -day : 10 * day;
    X509 *issuer = identity == TLS_IDENTITY_UNTRUSTED_ROOT ? other : root;
    EVP_PKEY *issuer_key = identity == TLS_IDENTITY_UNTRUSTED_ROOT ? other_key : root_key;
    if (identity == TLS_IDENTITY_SELF_SIGNED) issuer = NULL, issuer_key = NULL;
    leaf = make_certificate(key, "localhost", hosts, any_usage, from, until, issuer, issuer_key);
    done = leaf != NULL && SSL_CTX_use_certificate(context, leaf) == 1
        && SSL_CTX_use_PrivateKey(context, key) == 1;
    if (done && clients_folder != NULL) {
        done = require_clients(context, root)
            && write_client(clients_folder, "client", any_usage, 10 * day, root, root_key)
            && write_client(clients_folder, "stranger", any_usage, 10 * day, other, other_key)
            && write_client(clients_folder, "expired", any_usage, -day, root, root_key)
            && write_client(clients_folder, "server", "serverAuth", 10 * day, root, root_key);
    }
end:
    X509_free(leaf);
    X509_free(other);
    X509_free(root);
    EVP_PKEY_free(key);
    EVP_PKEY_free(other_key);
    EVP_PKEY_free(root_key);
    return done;
}
