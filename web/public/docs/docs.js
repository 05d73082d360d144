// Shows the API's description; the token that the page keeps is sent along.
SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#api",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: function (request) {
    var token = localStorage.getItem("turnleaf.token");
    if (token) request.headers.Authorization = "Bearer " + token;
    return request;
  },
});
